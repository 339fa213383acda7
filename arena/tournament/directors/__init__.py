"""Keeping tournaments going: what directors ask for is done between matches."""
