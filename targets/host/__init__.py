"""The host target: runs any op by its numpy reference, visibly."""

from .target import HOST as TARGET

__all__ = ["TARGET"]
