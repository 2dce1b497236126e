"""The three kinds of failure: invalid IR, an unsupported request, and (everything else) a bug.

`Invalid` and `Unsupported` are raised close to the fault and carry words only; whoever knows the
source node turns them into `Diagnostic`s, and the driver raises one `CompileError` for all.
Any other exception is a bug of Trivium's and stays a traceback.
"""

from collections.abc import Sequence
from dataclasses import dataclass


class Invalid(Exception):
    """Say that an op's operands or attributes break its contract. Raised by `infer`."""


class Unsupported(Exception):
    """Say that something is legal, but that this frontend, pass or target cannot do it."""


class NeedsValue(Unsupported):
    """Say that a value must be known at compile time; `inputs` are the model's inputs it is of."""

    def __init__(self, message: str, inputs: Sequence[str]) -> None:
        super().__init__(message)
        self.inputs = tuple(inputs)


@dataclass(frozen=True)
class Diagnostic:
    """One message for the user: where, what, and what to do about it.

    `needs` names the model's inputs of which more must be known, a value or a shape: with that the
    fault would be gone.
    """

    where: str
    message: str
    notes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def __str__(self) -> str:
        head = f"{self.where}: error: {self.message}" if self.where else f"error: {self.message}"
        return "\n".join([head, *(f"  note: {note}" for note in self.notes)])


class CompileError(Exception):
    """Report to the user why a model was not compiled; the only exception the API raises.

    `str()` of it is what the tools print: one line for each diagnostic, notes indented below.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic] | str) -> None:
        if isinstance(diagnostics, str):
            diagnostics = [Diagnostic("", diagnostics)]
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(map(str, self.diagnostics)))

    @property
    def needs(self) -> tuple[str, ...]:
        """Return what all diagnostics need, without repeats; empty when any of them is not so."""
        if not all(d.needs for d in self.diagnostics):
            return ()
        return tuple(dict.fromkeys(name for d in self.diagnostics for name in d.needs))
