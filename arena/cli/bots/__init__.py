"""Commands for authors of bots and of games."""
