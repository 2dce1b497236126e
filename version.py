"""The version of Trivium."""

__version__ = "0.1.0"
