"""For the tests of those who use the library. Each module is imported by its own name."""
