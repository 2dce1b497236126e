"""Loadables and the results of the hardware: `vectors/*.npz`, a file for each configuration.

They were recorded from the vendor's own model of the hardware, driven by the vendor's firmware of
ABI 0.12; neither is needed to use them. Images are int8 [C, H, W].
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

FOLDER = Path(__file__).with_name("vectors")
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Vector:
    """A loadable, the configuration that ran it, its inputs in the order of binding, its result."""

    name: str
    configuration: str
    loadable: bytes
    inputs: tuple[Array, ...]
    output: Array
    facts: dict[str, Any]
    arrays: dict[str, Array]

    def __str__(self) -> str:
        return f"{self.configuration}-{self.name}"


def vectors() -> list[Vector]:
    """Return all vectors."""
    return [each for file in sorted(FOLDER.glob("*.npz")) for each in _read(file)]


def vector(configuration: str, name: str) -> Vector:
    """Return one vector."""
    return next(each for each in vectors() if str(each) == f"{configuration}-{name}")


def _read(file: Path) -> list[Vector]:
    stored: dict[str, dict[str, Array]] = {}
    with np.load(file) as arrays:
        for key in arrays.files:
            name, _, part = key.partition("/")
            stored.setdefault(name, {})[part] = arrays[key]
    return [
        Vector(
            name,
            file.stem,
            found["loadable"].tobytes(),
            tuple(found[key] for key in ("x", "y") if key in found),
            found["model_out"],
            json.loads(str(found["meta"])),
            found,
        )
        for name, found in stored.items()
    ]
