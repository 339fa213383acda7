"""What authors submit, enter and play on an open arena."""
