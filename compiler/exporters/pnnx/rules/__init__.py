"""Rules that write ops of `tri` as PNNX; importing this package registers all of them.

A module has the rules of one family, which use `graph.py`; the exporter applies them through its
table. Start with `reduce.py`.
"""

from .....dialects.core.discovery import import_all

import_all(__name__)
