"""Confinement and metering of processes."""
