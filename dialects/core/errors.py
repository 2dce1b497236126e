"""The three kinds of failure: invalid IR, an unsupported request, and (everything else) a bug.

`Invalid` and `Unsupported` are raised close to the fault and carry words only; whoever knows the
source node turns them into `Diagnostic`s, and the driver raises one `CompileError` for all.
Any other exception is a bug of Trivium's and stays a traceback.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches


class Invalid(Exception):
    """Report operands or attributes that break an op's contract. Raised by `infer`."""


class Unsupported(Exception):
    """Report a request that is legal, but that this frontend, pass or target does not support."""


class NeedsValue(Unsupported):
    """Report a value that must be known at compile time, but depends on the model's `inputs`."""

    def __init__(self, message: str, inputs: Sequence[str]) -> None:
        super().__init__(message)
        self.inputs = tuple(inputs)


class Undecided(Unsupported):
    """Report a question about sizes whose answer depends on the sizes of a run."""


def need_one_of(what: str, value: str, known: Collection[str]) -> None:
    """Raise Invalid unless a string attribute has one of the known values."""
    if value not in known:
        raise Invalid(f"{what} is '{value}', must be one of {', '.join(known)}")


def on_one_line(text: str) -> str:
    """Return a text as one line that a terminal can show.

    Characters that are not printable are escaped; of a text of more than 2000 characters, which
    only a damaged or hostile file causes, the middle is left out.
    """
    if len(text) > _LONGEST:
        text = f"{text[:_SHOWN]} … ({len(text) - 2 * _SHOWN} characters more) … {text[-_SHOWN:]}"
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


_LONGEST, _SHOWN = 2000, 500


@dataclass(frozen=True)
class Diagnostic:
    """One message for the user: where, what, and what to do about it, each on one line.

    `needs` names the model's inputs of which more must be known, a value or a shape: with that the
    fault would be gone.
    """

    where: str
    message: str
    notes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Escape control characters and line breaks of names from a file."""
        object.__setattr__(self, "where", on_one_line(self.where))
        object.__setattr__(self, "message", on_one_line(self.message))
        object.__setattr__(self, "notes", tuple(map(on_one_line, self.notes)))

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


class InvalidNode(CompileError):
    """Report a node of a model that breaks its contract: no way to run it is missing, it has none.

    A model that does not run the node is no worse for it.
    """


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about a name that is not known: the one that is most like it."""
    close = get_close_matches(name, list(known), 1)
    return f", did you mean '{close[0]}'" if close else ""
