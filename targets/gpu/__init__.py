"""The GPU target: kernels over tiles, printed as Triton source and compiled ahead of time."""

from .target import GPU as TARGET

__all__ = ["TARGET"]
