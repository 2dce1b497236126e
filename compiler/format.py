"""`Format`: how models of one format are recognised, read and written."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

from ..dialects.core.errors import CompileError

if TYPE_CHECKING:
    from ..dialects.core.module import Module
    from ..runtime.session import Session
    from ..targets.options import CompileOptions
    from .generation.description import DecoderDescription

    Reader = Callable[[CompileOptions], Module]
    OpenedReader = AbstractContextManager[Reader]


def is_path(source: Any) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether a model is given by the path of a file."""
    return isinstance(source, (str, os.PathLike))


FORMATS: dict[str, "Format"] = {}
"""All formats by name; the definition of a class with a name registers the format."""


class Format:
    """A format of models. A class with a `name` is registered as it is defined.

    The first line of its docstring is shown by `trivium --list-formats`. Files of the format end in
    one of `suffixes`. `takes_example_inputs` is true for models that have no shapes of their own,
    `is_compiled` for packages, `has_levels` unless optimisation levels do not apply on export.
    `writes_symbols` is true where sizes that change from run to run can be written.
    """

    name: ClassVar[str] = ""
    suffixes: ClassVar[tuple[str, ...]] = ()
    takes_example_inputs: ClassVar[bool] = False
    is_compiled: ClassVar[bool] = False
    has_levels: ClassVar[bool] = True
    writes_symbols: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if cls.name in FORMATS:
            other = type(FORMATS[cls.name]).__module__
            raise TypeError(f"format {cls.name} is defined twice: in {other} and {cls.__module__}")
        if cls.name:
            FORMATS[cls.name] = cls()

    def accepts(self, source: Any) -> bool:
        """Return whether a model is of this format; by default, whether its path has a suffix."""
        return is_path(source) and Path(source).suffix in self.suffixes

    def read(self, source: Any, options: "CompileOptions") -> "Module":
        """Translate a model to a `tri` module in the current context; raises CompileError."""
        raise CompileError(f"format '{self.name}' is written, not read")

    def open(self, source: Any, options: "CompileOptions") -> "OpenedReader":
        """Give a function that reads a model with options, which may differ in sizes alone.

        What takes long and does not depend on sizes is done once.
        """
        return nullcontext(partial(self.read, source))

    def describe_decoder(self, source: Any) -> "DecoderDescription":
        """Return what is known of a decoder beside its graph; raises CompileError as `read`."""
        from .generation.description import DecoderDescription

        return DecoderDescription()

    def write(self, module: "Module", path: str) -> None:
        """Write a `tri` module to a file, in the current context; raises CompileError."""
        raise CompileError(f"format '{self.name}' is read, not written")

    def name_of(self, source: Any) -> str:
        """Return the name of a model in its package: by default that of its file."""
        return Path(source).name if is_path(source) else ""

    def check_session(self, session: "Session", source: Any, options: "CompileOptions") -> None:
        """Compare a compiled model with its source where the format can run it."""

    @property
    def reads(self) -> bool:
        return type(self).read is not Format.read

    @property
    def writes(self) -> bool:
        return type(self).write is not Format.write


class OpenedFormat(Format):
    """A format whose models are opened once, and read as often as there are sizes: by `open`."""

    def read(self, source: Any, options: "CompileOptions") -> "Module":
        with self.open(source, options) as read:
            return read(options)
