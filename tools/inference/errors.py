"""The errors of onnxruntime that programs catch."""

from collections.abc import Generator
from contextlib import contextmanager

from ...dialects.core.errors import CompileError
from ...runtime.errors import PackageError, RunError


class Fail(RuntimeError):
    """Report a model that cannot be compiled, or a package that cannot be loaded."""


class NoSuchFile(Fail):
    """Report a model that is not there."""


class InvalidArgument(ValueError):
    """Report inputs or names that a model does not have, or of other types or shapes."""


@contextmanager
def opening() -> Generator[None]:
    """Raise the errors of onnxruntime where a model cannot be opened."""
    try:
        yield
    except (CompileError, PackageError, RunError) as error:
        raise Fail(str(error)) from error


@contextmanager
def running() -> Generator[None]:
    """Raise the errors of onnxruntime where a run refuses what it is given."""
    try:
        yield
    except RunError as error:
        raise InvalidArgument(str(error)) from error
