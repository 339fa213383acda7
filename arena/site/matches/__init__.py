"""Pages about a match, a board, a game."""
