"""The programs of the corpus, by topic."""
