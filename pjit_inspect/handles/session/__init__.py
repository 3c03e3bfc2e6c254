"""Captures of this process: the scopes that capture, their logs, and the log's entry for each compile.

A process may be captured for hours without anyone looking: importing this room imports no analysis and no view.
"""
