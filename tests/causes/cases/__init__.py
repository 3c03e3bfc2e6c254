"""The programs whose causes were worked out by hand."""
