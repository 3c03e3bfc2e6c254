"""The data of the inspector, and the page and the widget that hold it."""
