"""Insert passes that other passes require."""

import dataclasses
from collections.abc import Sequence

from ...dialects.core.errors import CompileError
from ...passes.core import Pass
from ...passes.pipeline import Step

Kind = type[Pass]


def with_required(steps: Sequence[Step], ran: set[Kind]) -> tuple[Step, ...]:
    """Return passes, each behind those that it requires, and add all to `ran`.

    An inserted pass gets the options that it shares with the one that requires it. Raises
    CompileError for a cycle of requirements.
    """
    found: list[Step] = []
    for step in steps:
        if isinstance(step, Pass):
            found += _before(step, ran, ())
            ran.add(type(step))
        found.append(step)
    return tuple(found)


def _before(step: Pass, ran: set[Kind], path: tuple[Kind, ...]) -> list[Step]:
    """Return the passes to insert before a pass; `path` is the chain of requirements to it."""
    path = (*path, type(step))
    found: list[Step] = []
    for kind in step.requires:
        if kind in path:
            names = ", which requires ".join(
                each.name for each in (*path[path.index(kind) :], kind)
            )
            raise CompileError(f"passes require one another: {names}")
        if kind not in ran:
            made = _made_like(kind, step)
            found += [*_before(made, ran, path), made]
            ran.add(kind)
    return found


def _made_like(kind: Kind, step: Pass) -> Pass:
    """Make a pass with the options that it shares with another one."""
    known = {field.name for field in dataclasses.fields(kind)}
    given = {f.name: getattr(step, f.name) for f in dataclasses.fields(step) if f.name in known}
    return kind(**given)
