"""`Pass`: one change of IR, named after its class, with its fields as options."""

import dataclasses
import types
import typing
from typing import Any, ClassVar, dataclass_transform

from ..dialects.core.errors import CompileError
from ..dialects.core.module import Module
from .index import pass_name

PASSES: dict[str, "type[Pass]"] = {}
"""Every pass class by its name on the command line, such as `fold-constants`."""


@dataclass_transform(frozen_default=True)
class Pass:
    """Base of all passes: a frozen dataclass whose fields are the pass's options.

    The class name gives the pass's name: `FoldConstants` is `fold-constants`, and its field
    `size_budget: int = 1024` is set by `fold-constants{size-budget=64}`. A pass takes valid IR,
    leaves valid IR, is deterministic, and running it twice changes nothing more.
    """

    name: ClassVar[str] = ""
    needed: ClassVar[bool] = False
    """Whether what follows in a pipeline takes IR as the pass leaves it: it cannot be left out."""

    requires: "ClassVar[tuple[type[Pass], ...]]" = ()
    """What must have run before; the phases of an accelerator insert it where it is missing."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init_subclass__(cls) -> None:
        cls.name = pass_name(cls.__name__)
        if cls.name in PASSES:
            raise TypeError(f"pass {cls.name} is defined twice")
        dataclasses.dataclass(frozen=True)(cls)
        PASSES[cls.name] = cls

    def run(self, module: Module) -> None:
        """Change the module in place."""
        raise NotImplementedError

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the docstring: what `--help` and the docs show."""
        return (cls.__doc__ or "").strip().partition("\n")[0]

    @classmethod
    def parse(cls, options: str) -> "Pass":
        """Make the pass from option text such as `size-budget=64 strict`.

        Raises CompileError for an option that the pass does not have or a value that does not
        fit the option's type.
        """
        known = {field.name: field for field in dataclasses.fields(cls)}
        given: dict[str, Any] = {}
        for text in options.split():
            key, _, value = text.partition("=")
            field = known.get(key.replace("-", "_"))
            if field is None:
                names = ", ".join(name.replace("_", "-") for name in known) or "none"
                raise CompileError(f"pass '{cls.name}' has no option '{key}', it has: {names}")
            given[field.name] = _convert(cls.name, key, value or "true", field.type)
        return cls(**given)

    def __str__(self) -> str:
        """Print as the pipeline syntax that makes this pass, leaving out defaults."""
        shown: list[str] = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                text = _spell(value)
                shown.append(f"{field.name.replace('_', '-')}={text}")
        return self.name + (f"{{{' '.join(shown)}}}" if shown else "")


def _spell(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(map(_spell, typing.cast("tuple[Any, ...]", value)))
    return str(value)


def _convert(pass_name: str, option: str, text: str, kind: Any) -> Any:
    try:
        return _convert_to(text, kind)
    except ValueError:
        wanted = kind.__name__ if isinstance(kind, type) else str(kind)
        raise CompileError(
            f"pass '{pass_name}' option '{option}' is '{text}', must be of type {wanted}"
        ) from None


def _convert_to(text: str, kind: Any) -> Any:
    if kind is bool:
        if text not in ("true", "false"):
            raise ValueError
        return text == "true"
    if kind in (int, float, str):
        return kind(text)
    if typing.get_origin(kind) is tuple:
        element = typing.get_args(kind)[0]
        return tuple(_convert_to(part, element) for part in text.split(","))
    if hasattr(kind, "parse"):  # a class of its own, whose text form `parse` reads
        return kind.parse(text)
    if isinstance(kind, types.UnionType):  # an option that may be left unset: `int | None`
        return _convert_to(text, next(k for k in typing.get_args(kind) if k is not types.NoneType))
    raise TypeError(f"option type {kind} has no text form")
