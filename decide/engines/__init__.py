"""Engines that reach out: a function, a model in this process, a server. Each is imported by its own module."""
