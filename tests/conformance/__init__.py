"""Vectors of other implementations, run through this one."""
