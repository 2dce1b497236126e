"""The calls of native code, as a package lists them for whoever looks into its runs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import PackageError, RunError
from ..frozen import Frozen
from ..kinds import LEFT_OUT
from ..schema import decode, encode
from ..sizes.size_expressions import Size
from ..step import Step

if TYPE_CHECKING:
    from ..package import Package

CALLS = "calls.json"
"""The entry of a package that lists the calls of its steps."""


class CallScratch(Frozen):
    """Place memory that a call needs while it runs: `size` bytes at an offset into a base."""

    base: int
    offset: Size
    size: Size


class Call(Frozen):
    """Describe one call of a kernel: what it computes, and the buffers that it reads and writes.

    `scratch` is what else it writes while it runs. `flops` counts products and sums at the likely
    sizes, 0 for what does not contract, and `multiplies` is the element type of the factors;
    `moved_bytes` counts each operand and each result once.
    """

    kernel: str
    nodes: tuple[str, ...]
    ops: tuple[str, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    flops: int = 0
    moved_bytes: int = 0
    multiplies: str = "f32"
    scratch: tuple[CallScratch, ...] = field(default=(), metadata=LEFT_OUT)


class StepCalls(Frozen):
    """List the calls of a step in order; steps of one symbol and the same nodes make the same.

    They are `divisible` where native code makes each call alone if a job names it.
    """

    symbol: str
    nodes: tuple[str, ...]
    calls: tuple[Call, ...]
    divisible: bool = field(default=False, metadata=LEFT_OUT)


class CallTable:
    """Find the calls of the steps of a package; empty where it lists none."""

    def __init__(self, package: "Package") -> None:
        self._entry = package.entries.get(CALLS)
        self._buffers = len(package.manifest.buffers)
        self._is_native = any(name.startswith("cpu/") for name in package.entries)

    def of(self, step: Step) -> tuple[Call, ...]:
        """Return the calls of a step, in order; none for a step that is no native code."""
        symbol: str = getattr(step, "symbol", "")
        return self._listed.get((symbol, step.nodes), ()) if symbol else ()

    def check(self) -> None:
        """Raise RunError where the package has native code, but does not list its calls."""
        if self._entry is None and self._is_native:
            raise RunError(
                f"the package has no '{CALLS}', which lists its calls: compile the model again"
            )

    def check_divisible(self) -> None:
        """Raise RunError where native code of the package cannot make one call alone."""
        self.check()
        if not all(step.divisible for step in self._steps):
            raise RunError(
                "the native code of the package makes all calls at once, so that memory is static: "
                "compile the model again"
            )

    @cached_property
    def _steps(self) -> tuple[StepCalls, ...]:
        if self._entry is None:
            return ()
        try:
            document = json.loads(bytes(self._entry))
            steps = decode(tuple[StepCalls, ...], document, CALLS, texts=True)
        except ValueError as error:
            raise PackageError(f"'{CALLS}' is not JSON: {error}") from None
        for step in steps:
            for call in step.calls:
                if not all(0 <= index < self._buffers for index in (*call.reads, *call.writes)):
                    raise PackageError(
                        f"'{CALLS}' has a call of '{call.kernel}' on a buffer that is not there"
                    )
        return steps

    @cached_property
    def _listed(self) -> Mapping[tuple[str, tuple[str, ...]], tuple[Call, ...]]:
        return {(step.symbol, step.nodes): step.calls for step in self._steps}


def listed_calls(steps: Sequence[StepCalls]) -> bytes:
    """Return the entry of a package for the calls of its steps; equal steps are there once."""
    unique = {(step.symbol, step.nodes): step for step in steps}
    return json.dumps(encode(tuple(unique.values())), separators=(",", ":")).encode()
