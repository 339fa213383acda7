"""What every page is made of: its model, its parameters, sentences."""
