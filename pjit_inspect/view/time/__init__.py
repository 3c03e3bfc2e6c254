"""Where the seconds of a call go: the page with its pictures, the inspector's pane, more chips."""
