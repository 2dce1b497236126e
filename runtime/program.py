"""Prepare a package to run; what comes out is read-only and shared by sessions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import host
from .cpu import choose_code
from .elf import NativeLibrary, load_objects
from .errors import PackageError
from .manifest import Step
from .memory import Bases, aligned
from .package import Package
from .team import CODE, Team, pool_of

Bind = Callable[[Bases, int], Callable[[], None]]
"""Prepare a step for the bases of a session and a number of threads."""


@dataclass(frozen=True)
class Program:
    """Hold the weights and the steps of a package; each step binds to the bases of a session.

    `machine` names what the native code in use was made for; it is empty where there is none.
    """

    package: Package
    machine: str
    weights: NDArray[np.uint8]
    library: NativeLibrary | None
    steps: tuple[Bind, ...]


def link(package: Package, dialects: Mapping[str, host.Ops]) -> Program:
    """Load the native code and find the kernel of every host step."""
    machine, library = _load(package)
    steps = tuple(_prepare(step, package, library, dialects) for step in package.manifest.steps)
    return Program(package, machine, aligned(package.weights), library, steps)


def _load(package: Package) -> tuple[str, NativeLibrary | None]:
    if not any(name.startswith("cpu/") for name in package.entries):
        return "", None
    chosen = choose_code(package.manifest.machines)
    library = load_objects(
        {
            name: data
            for name, data in package.entries.items()
            if name == CODE or name.rpartition("/")[0] + "/" == chosen.folder
        }
    )
    return chosen.machine, library


def _prepare(
    step: Step, package: Package, library: NativeLibrary | None, dialects: Mapping[str, host.Ops]
) -> Bind:
    if step.kind == "host":
        reference = host.find_reference(step.op, step.nodes, dialects)
        return lambda bases, threads: host.bind(step, reference, bases)
    if library is None:
        raise PackageError(f"step '{step.symbol}' is native, but the package has no native code")
    if CODE not in package.entries:
        raise PackageError(f"step '{step.symbol}' is native, but the package has no '{CODE}'")
    library.address(step.symbol)  # a function that is missing is found now
    pool, own = pool_of(package.entries[CODE]), package.manifest.memory.thread_bytes
    return lambda bases, threads: Team(library, step, bases, own, threads, pool).run
