"""What a suite of cases is. A suite is a class in a module of `suites`, named as the module."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import ClassVar

from ...compiler.onnx_backend import Compile
from ...dialects.core.errors import CompileError
from . import suites


class Difference(Exception):
    """Report a result that is not the one expected."""


@contextmanager
def comparison() -> Generator[None]:
    """Turn an assertion about results, which does not hold, into a Difference."""
    try:
        yield
    except AssertionError as error:
        raise Difference(str(error)) from None


class Case(ABC):
    """One case. It is sent to other processes, so `pickle` must take it."""

    name: str
    operator: str
    """What the case is about: reports have a row for each."""

    @abstractmethod
    def run(self, compile: Compile) -> None:
        """Compile and run the case.

        Raises Difference where a result is not the one expected, CompileError where the model is
        refused.
        """


class Suite(ABC):
    """A collection of cases, named by its module."""

    BY_NAME: ClassVar[dict[str, type["Suite"]]] = {}

    def __init_subclass__(cls) -> None:
        Suite.BY_NAME[cls.suite_name()] = cls

    @classmethod
    def suite_name(cls) -> str:
        return cls.__module__.rpartition(".")[2]

    @classmethod
    @abstractmethod
    def open(cls, folder: Path | None, samples: int | None) -> "Suite":
        """Find the suite, in a folder where it is one of files, of so many samples of a function.

        Raises CompileError where it is not there, and for an argument that it does not take.
        """

    @abstractmethod
    def cases(self) -> Sequence[Case]:
        """Return all cases; their names differ."""

    @property
    @abstractmethod
    def version(self) -> str:
        """Return which version of the suite this is, for reports."""


def refuse_samples(name: str, samples: int | None) -> None:
    """Raise CompileError for a number of samples, which a suite does not take."""
    if samples is not None:
        raise CompileError(f"suite '{name}' has no samples to choose from: leave out their number")


def suite_names() -> list[str]:
    """Return the names of all suites, without importing them."""
    return sorted(module.name for module in iter_modules(suites.__path__))


def open_suite(name: str, folder: Path | None = None, samples: int | None = None) -> Suite:
    """Open a suite by its name; raise CompileError for one that is not there."""
    if name not in suite_names():
        raise CompileError(f"suite is '{name}', must be one of {', '.join(suite_names())}")
    import_module(f"{suites.__name__}.{name}")
    return Suite.BY_NAME[name].open(folder, samples)
