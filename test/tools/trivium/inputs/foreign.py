"""Let a tuning file be one of another machine."""

import re
import sys
from pathlib import Path

path = Path(sys.argv[1])
path.write_text(re.sub(r'"model": "[^"]*"', '"model": "Z80"', path.read_text()))
