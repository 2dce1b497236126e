"""Packages of steps on several targets, which numpy computes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar

from trivium.runtime.contents import ARENA, FIRST_PORT, Buffer, Memory, Port
from trivium.runtime.host.step import HostStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package

COUNT = 16
X, Y = 0, 1
"""The numbers of the buffers of the input and the output."""


@dataclass(frozen=True, kw_only=True)
class LeftStep(HostStep):
    kind: ClassVar[str] = "left"


@dataclass(frozen=True, kw_only=True)
class RightStep(HostStep):
    kind: ClassVar[str] = "right"


KINDS = (HostStep, LeftStep, RightStep)


def ops(**references: Callable[..., Any]) -> dict[str, dict[str, Callable[..., Any]]]:
    """Return a dialect `toy` with some ops."""

    def op(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda **attributes: SimpleNamespace(reference=partial(function, **attributes))

    return {"toy": {f"toy.{name}": op(function) for name, function in references.items()}}


def step(
    kind: type[HostStep],
    op: str,
    operands: Sequence[int],
    results: Sequence[int],
    **attributes: Any,
) -> HostStep:
    named = {"attributes": attributes, "operands": tuple(operands), "results": tuple(results)}
    return kind(op=f"toy.{op}", nodes=(op,), **named)


def package(steps: Sequence[HostStep], places: Sequence[tuple[int, int]] = ()) -> Package:
    """Return a package from x to y, float32[16], with buffers at some offsets of the arena.

    `places` has offset and elements of each; they have the numbers from 2 on.
    """
    arena = [Buffer(f"t{i}", ARENA, 4 * at, (n,), "float32") for i, (at, n) in enumerate(places)]
    size = max((4 * (at + n) for at, n in places), default=0)
    manifest = Manifest(
        producer="test",
        source="",
        target="host",
        inputs=(Port("x", (COUNT,), "float32", X),),
        outputs=(Port("y", (COUNT,), "float32", Y),),
        buffers=(
            Buffer("x", FIRST_PORT, 0, (COUNT,), "float32"),
            Buffer("y", FIRST_PORT + 1, 0, (COUNT,), "float32"),
            *arena,
        ),
        steps=tuple(steps),
        memory=Memory(size, size, 0),
    )
    return Package.create(manifest, {})
