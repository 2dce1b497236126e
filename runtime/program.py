"""Prepare a package to run; what comes out is read-only and shared by sessions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from . import host
from .cpu import check_cpu, segment
from .elf import NativeLibrary, load_objects
from .errors import PackageError
from .manifest import Step
from .memory import Bases, aligned
from .package import Package

Bind = Callable[[Bases], Callable[[], None]]


@dataclass(frozen=True)
class Program:
    """Hold the weights and the steps of a package; each step binds to the bases of a session."""

    package: Package
    weights: NDArray[np.uint8]
    library: NativeLibrary | None
    steps: tuple[Bind, ...]


def link(package: Package, dialects: Mapping[str, host.Ops]) -> Program:
    """Load the native code and find the kernel of every host step."""
    library = _load(package)
    steps = tuple(_prepare(step, library, dialects) for step in package.manifest.steps)
    return Program(package, aligned(package.weights), library, steps)


def _load(package: Package) -> NativeLibrary | None:
    objects = {
        name: data
        for name, data in package.entries.items()
        if name.startswith("cpu/") and name.endswith(".o")
    }
    if not objects:
        return None
    check_cpu(package.manifest.cpu)
    return load_objects(objects)


def _prepare(step: Step, library: NativeLibrary | None, dialects: Mapping[str, host.Ops]) -> Bind:
    if step.kind == "host":
        return partial(host.bind, step, host.find_reference(step.op, step.nodes, dialects))
    if library is None:
        raise PackageError(f"step '{step.symbol}' is native, but the package has no native code")
    return partial(_bind_native, segment(library, step.symbol))


def _bind_native(function: Callable[[int], None], bases: Bases) -> Callable[[], None]:
    return partial(function, bases.address)
