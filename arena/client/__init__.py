"""Asking the site of an arena, as a program of somebody who is signed in there."""

from arena.client.signed_in import for_site

__all__ = ["for_site"]
