"""Measure packages on a GPU beside PyTorch: products of f16, and whole networks.

Needs numpy, PyTorch and a GPU; packages are made beforehand on any machine, by
docs/demo/gpu_packages.py. All contenders take turns in this process, each as a CUDA graph. A ratio
is how many times as fast Trivium is. What goes wrong with one case does not keep the others from
being measured; the exit code is 1 then.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ....runtime.errors import Fault, RunError
from ....version import __version__
from .packages import MADE_BY, find
from .plan import Case, cases
from .report import Row, describe, first_line, write

FOLDER = Path("build/gpu")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool on command line arguments and return its exit code."""
    flags = _parser().parse_args(argv)
    listed = cases(flags.only)
    if not listed:
        print(f"no case has '{flags.only}' in its name", file=sys.stderr)
        return 2
    if flags.dry_run:
        print(*_plan(listed, flags.folder), sep="\n")
        return 0
    try:
        return _measure(listed, flags)
    except Fault as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="trivium.tools.bench.gpu",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--only", metavar="WORD", default="", help="cases with a word in the name")
    parser.add_argument("-o", "--output", metavar="FILE.json", type=Path, help="where results go")
    parser.add_argument(
        "--autotune", action="store_true", help="let torch.compile take minutes for each network"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be measured")
    return parser


def _plan(listed: Sequence[Case], folder: Path) -> list[str]:
    lines = [f"{len(listed)} cases, packages in {folder}"]
    for case in listed:
        path = find(case, folder)
        lines.append(f"  {case.title}: {path.name if path else 'its package is missing'}")
    if not all(find(case, folder) for case in listed):
        lines.append(f"missing packages are made by: python {MADE_BY} {folder}")
    return lines


def _measure(listed: Sequence[Case], flags: argparse.Namespace) -> int:
    if find_spec("torch") is None:
        raise RunError("PyTorch is not installed: pip install torch")
    from ....runtime.gpu.device import Device
    from . import peers
    from .run import Bench

    device = Device.open()
    if not peers.available():
        raise RunError("PyTorch finds no GPU: install one that is built for CUDA")
    machine = {"trivium": __version__, **peers.describe(), "architecture": device.architecture}
    print(", ".join(f"{name} {value}" for name, value in machine.items()), flush=True)
    output: Path = flags.output or flags.folder / "results.json"
    bench = Bench(flags.folder, device, peers.TorchClock(), _note, flags.autotune)
    rows: list[Row] = []
    for case in listed:
        try:
            row = bench.measure(case)
        except Exception as error:  # of any library; the next case may do better
            row = {"case": case.title, "failed": first_line(error)}
        rows.append(row)
        print(*describe(row), sep="\n", flush=True)
        write(output, machine, rows)
    print(f"results are in {output}")
    return 1 if any("failed" in row for row in rows) else 0


def _note(line: str) -> None:
    print(f"note: {line}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
