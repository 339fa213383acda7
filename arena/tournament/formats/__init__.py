"""Formats: who meets whom, from the field and the results so far. See ``format.py``."""
