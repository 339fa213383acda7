"""Commands that play, change and move tournaments."""
