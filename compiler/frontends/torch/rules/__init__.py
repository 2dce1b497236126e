"""Rules of torch's operators, one module per family; importing this package registers all rules.

Rules use `registry.py` and the modules beside it; the importer reads them through the registry.
Start with `matmul.py`.
"""

from .....dialects.core.discovery import import_all

import_all(__name__)
