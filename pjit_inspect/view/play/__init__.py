"""The playground: its widget, its page, and the still twin of both."""
