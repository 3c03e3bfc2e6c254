"""The same charts as plotly figures."""
