"""Asking the site of an arena, as a program of somebody who is signed in there."""
