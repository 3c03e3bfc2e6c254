"""What two programs differ in, as text, as a page and as JSON."""
