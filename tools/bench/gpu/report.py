"""Results as a table, and as a JSON file that is written after each case."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ....runtime.errors import Fault, RunError
from ....runtime.file.atomic_file import atomic_file
from ...spelling import columns

Row = Mapping[str, Any]


def describe(row: Row) -> list[str]:
    """Return lines on one case."""
    if "failed" in row:
        return [f"{row['case']}: {row['failed']}"]
    head = [row["case"]]
    if "error" in row:
        head.append(f"largest error {row['error']:.1e}, of PyTorch {row['torch_error']:.1e}")
    if "setting" in row:
        head.append(row["setting"])
    return [": ".join([head[0], ", ".join(head[1:])]), *(f"  {line}" for line in _rows(row))]


def _rows(row: Row) -> list[str]:
    titles = ["", "us", "ratio"] + ["TFLOPS"] * ("tflops" in row) + ["host us"] * ("host_us" in row)
    lines: list[list[str]] = [titles]
    for name, time in row["us"].items():
        ratio = row["ratios"].get(name)
        cells = [name, f"{time:.1f}", "" if ratio is None else f"{ratio:.2f}x"]
        cells += [f"{row['tflops'][name]:.0f}"] if "tflops" in row else []
        cells += [f"{row['host_us'][name]:.1f}"] if "host_us" in row else []
        lines.append(cells)
    return columns(lines, "", left=1)


def first_line(error: Exception) -> str:
    """Return the message of an error in a line, with its class if it is not ours."""
    words = (str(error).strip().splitlines() or [""])[0]
    return words if isinstance(error, Fault) else f"{type(error).__name__}: {words}"


def write(path: Path, machine: Mapping[str, str], rows: Sequence[Row]) -> None:
    """Replace the file of results; it is never there in part."""
    text = json.dumps({"machine": machine, "cases": list(rows)}, indent=2) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror}") from None
