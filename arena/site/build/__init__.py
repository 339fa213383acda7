"""From the store to the value of a page."""
