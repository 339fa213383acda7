"""Kernels: the rules of the five games once more, in C, for the lab."""
