"""Lowerings of ops, one file per family; importing the package registers all of them.

Imported by `emit/`, which lowers whole groups. Start reading at `group.py`, then `elementwise.py`
for an elementwise, `shape.py` for an indexed and `matmul.py` for a template lowering.
"""

from ....dialects.core.discovery import import_all

import_all(__name__)
