"""Declare one option of `CompileOptions`: its check, its help and its flag in one place."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ..dialects.core.arguments import Check, checked, flag, names, one_of
from ..dialects.core.errors import CompileError, Diagnostic, Invalid
from ..dialects.core.sizes.symbols import Range, is_symbol_name

_KEY = "option"


@dataclass(frozen=True)
class Option:
    """How an option is checked, described and written on the command line.

    `check` converts a value or raises Invalid; `parse` converts the text of a flag to a value, and
    raises ValueError or Invalid. `flag` is None for an option of Python alone, and the name of the
    field unless it is given. A flag that `collects` may be repeated: "pairs" in a dictionary, or
    values to "append" to a list. A `rebuilds` option also applies where a package is compiled
    again; a `package_only` option is a flag of `trivium compile` alone.
    """

    help: str
    check: Check
    flag: str | None = ""
    metavar: str | None = None
    choices: Sequence[Any] | None = None
    parse: Callable[[str], Any] = str
    collects: str = ""
    rebuilds: bool = False
    package_only: bool = False
    name: str = ""

    @property
    def is_switch(self) -> bool:
        """Return whether the flag has no value."""
        return self.check is flag

    def read(self, text: str) -> Any:
        """Return the value of a flag's text; raise Invalid for a text that the check refuses."""
        try:
            value = self.parse(text)
        except ValueError as error:
            if self.collects:  # one of many values, which has no check of its own
                raise Invalid(f"is refused: {error}") from None
            value = text
        return value if self.collects else self.check(value)


def option(default: Any, help: str, check: Check | None = None, **declared: Any) -> Any:
    """Return the dataclass field of an option with a default; the rest are those of `declare`."""
    return field(default=default, metadata=declare(help, check, **declared))


def several_names(help: str, default: Any = (), **declared: Any) -> Any:
    """Return the field of an option of names: on the command line, they are set apart by commas."""
    declared = {"metavar": "NAME[,NAME...]"} | declared
    return option(default, help, names, parse=comma_separated, **declared)


def declare(help: str, check: Check | None = None, **declared: Any) -> Mapping[str, Any]:
    """Return the metadata of the field of an option: fields of `Option`, but for its name.

    `choices` are a check of their own.
    """
    return {_KEY: Option(help, check or one_of(declared["choices"]), **declared)}


def options_of(cls: Any) -> Iterator[Option]:
    """Yield the options that a dataclass declares, in order."""
    for each in fields(cls):
        found: Option = each.metadata[_KEY]
        spelled = f"--{each.name.replace('_', '-')}" if found.flag == "" else found.flag
        yield replace(found, name=each.name, flag=spelled)


def check_options(options: Any) -> None:
    """Convert all fields of a frozen dataclass; raise CompileError that lists all wrong ones."""
    faults: list[Diagnostic] = []
    for each in options_of(options):
        try:
            value = checked(each.name, getattr(options, each.name), each.check)
            object.__setattr__(options, each.name, value)
        except CompileError as error:
            faults += error.diagnostics
    if faults:
        raise CompileError(sorted(faults, key=str))


def changed_options(options: Any) -> list[Option]:
    """List the options of a dataclass that do not have their default."""
    default = type(options)()
    return [each for each in options_of(options) if _differ(options, default, each.name)]


def _differ(options: Any, default: Any, name: str) -> bool:
    given, expected = getattr(options, name), getattr(default, name)
    if expected is None:  # what is given may be an array, which is not compared as a whole
        return given is not None
    return given != expected


def size_pair(text: str) -> tuple[str, int | Range | tuple[int | str | None, ...]]:
    """Parse `N=1`, `T=1..512:128/8` or `x=1x3x224x224`, of which sizes may be `?` or names."""
    name, _, sizes = text.rpartition("=")
    if name and ".." in sizes:
        return name, Range.parse(sizes)
    listed = [_size(each) for each in sizes.split("x")]
    if not name or "" in listed or (len(listed) == 1 and not sizes.isdecimal()):
        raise Invalid("must be like N=1, T=1..512 or x=1x3x224x224")
    return name, int(sizes) if len(listed) == 1 else tuple(listed)


def text_pair(text: str) -> tuple[str, str]:
    """Parse `present=past`."""
    name, sign, value = text.rpartition("=")
    if not (name and sign and value):
        raise Invalid("must be like present=past")
    return name, value


def size_set(text: str) -> dict[str, int]:
    """Parse `T=128` or `T=256,N=2`."""
    pairs = [each.partition("=") for each in text.split(",")]
    names = [name for name, _, _ in pairs]
    if not all(is_symbol_name(name) and size.isdecimal() for name, _, size in pairs):
        raise Invalid("must be like T=128 or T=256,N=2")
    if len({*names}) != len(names):
        raise Invalid("has a name twice, must have each once")
    return {name: int(size) for name, _, size in pairs}


def _size(text: str) -> int | str | None:
    """Read a size of a shape: a number, a name, `?` for None; empty for any other text."""
    if text.isdecimal() or text == "?":
        return None if text == "?" else int(text)
    return text if is_symbol_name(text) else ""


def comma_separated(text: str) -> tuple[str, ...]:
    """Parse `x86-64-v3` or `x86-64-v3,x86-64-v4`."""
    return tuple(text.split(","))
