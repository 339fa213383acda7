"""The server of the site."""
