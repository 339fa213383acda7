"""Confinement: what a bot may do to the machine, how it is launched, measured and ended."""
