"""Make the tables of examples of the dialect's tests importable here."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "dialects"))
