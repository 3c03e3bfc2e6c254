"""All analyses of one record, put together."""
