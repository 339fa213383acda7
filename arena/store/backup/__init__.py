"""A home as a folder that can be kept elsewhere, and a home from such a folder."""
