"""The error of an engine that cannot be built as it was asked for."""

from decide.errors import MisconfiguredError


class SetupError(MisconfiguredError, ValueError):
    """
    An argument of an engine makes no sense, or something it needs is not installed. Names the argument, never a key.
    """
