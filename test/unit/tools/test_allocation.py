import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import numpy as np
from pathlib import Path
from trivium.tools.allocation import return_large_blocks

def resident():
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])

if {calls}:
    return_large_blocks()
freed = np.ones(24 << 20, np.uint8)
del freed  # by default, blocks of up to this size now come from the heap
weights = [np.ones(2 << 20, np.uint8) for _ in range(64)]
above = [np.ones(1 << 16, np.uint8) for _ in range(8)]  # keeps the heap from shrinking
before = resident()
weights.clear()
print(before - resident() > 100 << 20)
"""


def returned(calls: bool) -> bool:
    script = SCRIPT.replace("{calls}", str(calls))
    return subprocess.check_output([sys.executable, "-c", script], text=True) == "True\n"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux tells what is resident")
def test_freed_weights_are_returned_to_the_system() -> None:
    assert returned(True)
