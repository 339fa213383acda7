"""Values and words that all rooms use."""
