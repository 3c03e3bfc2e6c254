"""Sentences that keep what their words are."""
