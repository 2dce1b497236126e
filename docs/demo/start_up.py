"""Measure how long new processes take to the first output of a model, beside ONNX Runtime.

python docs/demo/start_up.py MODEL.onnx… [--rounds N]

Trivium loads a package, ONNX Runtime the model. Python alone, and with numpy, show what is not
theirs. Processes start one after the other, and take turns; inputs are ones.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import trivium

END = "import os; os.write(1, b'x'); os._exit(0)"

NUMPY = "import sys, numpy as np; "

TRIVIUM = (
    "import trivium; s = trivium.load(sys.argv[1]); "
    "s.run({p.name: np.ones(p.shape, p.dtype) for p in s.inputs}); "
)

PEER = (
    "import onnxruntime; "
    "s = onnxruntime.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider']); "
    "kinds = {'tensor(float)': np.float32, 'tensor(int64)': np.int64}; "
    "s.run(None, {p.name: np.ones(p.shape, kinds[p.type]) for p in s.get_inputs()}); "
)


def milliseconds(code: str, path: str) -> tuple[float, float]:
    """Run code in a new process; return wall time to its first byte, and its processor time."""
    start = time.perf_counter()
    arguments = [sys.executable, "-c", code + END, path]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        first = process.stdout.read(1)
        wall = time.perf_counter() - start
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if first != b"x":
        raise SystemExit(f"{path}: the process failed")
    return 1e3 * wall, 1e3 * (used.ru_utime + used.ru_stime)


def main(models: Sequence[str], rounds: int, folder: Path) -> None:
    ways = {"Python": ("", ""), "Python with numpy": (NUMPY, "")}
    for model in models:
        package = str(folder / f"{Path(model).stem}.trv")
        trivium.build(model).save(package)
        ways[f"{Path(model).stem}, Trivium"] = (NUMPY + TRIVIUM, package)
        ways[f"{Path(model).stem}, ONNX Runtime"] = (NUMPY + PEER, model)
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, (code, path) in ways.items():
            taken[way].append(milliseconds(code, path))
    print(f"{'ms, median and least of ' + str(rounds):40} {'wall':>16} {'processor':>16}")
    for way, times in taken.items():
        columns = [f"{statistics.median(x):8.1f}{min(x):8.1f}" for x in zip(*times, strict=True)]
        print(f"{way:40} {' '.join(columns)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        main(given.models, given.rounds, Path(made))
