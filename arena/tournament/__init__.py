"""A tournament on its way: definition, schedule, director, standings."""
