"""Contests: entries until a deadline, a qualification, a final, and results that are shown when they should be."""
