"""Commands of the site and its people."""
