"""Arena lab."""
