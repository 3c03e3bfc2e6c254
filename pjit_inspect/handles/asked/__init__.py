"""Programs that were changed in a copy, or compiled for machines that are not attached."""
