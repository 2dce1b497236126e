"""Rules of operators that PNNX alone has; importing this package registers them.

The importer reads them, and those of torch, through the registry. Start with `structure.py`.
"""

from .....dialects.core.discovery import import_all
from ...torch import rules as rules

import_all(__name__)
