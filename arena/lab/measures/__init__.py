"""What a game is like to play: eleven measures, each with its number of observations and its interval."""
