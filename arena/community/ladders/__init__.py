"""Ladders that all submitted bots enter by themselves."""
