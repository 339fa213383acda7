"""Annotation of recorded matches, accuracy of bots, puzzles."""
