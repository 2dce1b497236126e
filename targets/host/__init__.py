"""The host target: runs any op by its numpy reference, visibly, where no other target does.

The registry of targets imports `TARGET`. Start reading at `target.py`.
"""

from .target import HOST as TARGET

__all__ = ["TARGET"]
