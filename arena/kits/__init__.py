"""Kits: the beginning of a bot in each language, with a codec, a build and a test."""
