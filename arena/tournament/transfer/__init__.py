"""Tournaments from elsewhere: another home is merged, an export is imported, and nothing is taken unchecked."""
