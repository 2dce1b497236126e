"""Insert passes that others require and nobody listed."""

import dataclasses
from collections.abc import Sequence

from ...dialects.core.errors import CompileError
from ...passes.core import Pass
from ...passes.pipeline import Step

Kind = type[Pass]


def with_required(steps: Sequence[Step], ran: set[Kind]) -> tuple[Step, ...]:
    """Return passes with all that they require before them, and add what there is to `ran`.

    A pass that is inserted gets the options that it has in common with the one that requires it.
    Raises CompileError when a pass requires itself, through others.
    """
    found: list[Step] = []
    for step in steps:
        if isinstance(step, Pass):
            found += _before(step, ran, ())
            ran.add(type(step))
        found.append(step)
    return tuple(found)


def _before(step: Pass, ran: set[Kind], path: tuple[Kind, ...]) -> list[Step]:
    """Return the passes that must run before a pass; `path` is what requires it."""
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
    """Make a pass with those options of another one that it has, too."""
    known = {field.name for field in dataclasses.fields(kind)}
    given = {f.name: getattr(step, f.name) for f in dataclasses.fields(step) if f.name in known}
    return kind(**given)
