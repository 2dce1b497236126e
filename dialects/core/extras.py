"""Packages that an extra of Trivium installs, and the error where one is missing."""

from importlib.util import find_spec
from typing import NamedTuple

from .errors import CompileError


class Package(NamedTuple):
    """Name the distribution that contains a module, and the extra of Trivium that installs it."""

    distribution: str
    extra: str


OPTIONAL = {
    "PIL": Package("pillow", "images"),
    "expecttest": Package("expecttest", "test"),
    "flatbuffers": Package("flatbuffers", "nvdla"),
    "ml_dtypes": Package("ml_dtypes", "compile"),
    "onnx": Package("onnx", "compile"),
    "pnnx": Package("pnnx", "torch"),
    "ray": Package("ray[data,serve]", "ray"),
    "tokenizers": Package("tokenizers", "generate"),
    "torch": Package("torch", "torch"),
    "torch_mlir": Package("torch-mlir", "compile"),
    "triton": Package("triton", "gpu"),
    "zstandard": Package("zstandard", "compress"),
}
"""Modules that are not installed with Trivium itself."""


def is_installed(module: str) -> bool:
    """Report whether a module can be imported, without importing it."""
    return find_spec(module) is not None


def require(module: str, purpose: str) -> None:
    """Raise CompileError unless a module is installed; `purpose` is the use that needs it."""
    if not is_installed(module):
        raise missing(module, purpose)


def missing(module: str, purpose: str) -> CompileError:
    """Return the error for a module that `purpose`, such as "compiling", needs and lacks."""
    distribution, extra = OPTIONAL[module]
    return CompileError(
        f"{purpose} needs {distribution}, which is not installed: pip install 'trivium[{extra}]'"
    )
