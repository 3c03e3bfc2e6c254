"""`%pjit` in IPython and Jupyter: the magics, their completion, loading and unloading.

Nothing is computed here: a line is parsed, the API is called, and the result is displayed.
"""
