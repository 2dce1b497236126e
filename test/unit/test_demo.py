"""The demo of `make demo` runs, and its result is right."""

import re
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).resolve().parents[2] / "docs" / "demo.py"


def test_demo() -> None:
    printed = subprocess.check_output([sys.executable, DEMO], text=True, timeout=120)
    assert re.search(r"^compiled in \d", printed, re.MULTILINE)
    assert re.search(r"loaded and ran in \d", printed)
    difference = re.search(r"largest difference from ONNX's reference: (\S+)", printed)
    assert difference
    assert float(difference[1]) < 1e-6
