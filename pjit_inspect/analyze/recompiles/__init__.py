"""Why a function was compiled again."""
