"""Checks of advice about an array, used by every part that advises. Not its job: finding the array, or the words."""
