"""Executors: where matches are played. Each plays the matches of a work queue."""
