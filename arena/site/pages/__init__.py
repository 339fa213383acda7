"""The other pages: each its model and its builder."""
