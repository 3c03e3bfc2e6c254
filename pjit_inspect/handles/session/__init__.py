"""What is captured in this process: the scopes that capture it, their logs, and what a log holds of each compile.

A process may be captured for hours and never looked at: importing this room imports no analysis and no view.
"""
