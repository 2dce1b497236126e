"""Make a package anew from the IR in it: for another CPU, or another version of the compiler."""

from collections.abc import Sequence

import numpy as np

from ..dialects import tri
from ..dialects.core.errors import CompileError
from ..dialects.core.mlir import ir, new_context
from ..dialects.core.module import Module, ops
from ..dialects.core.tensor import Array, numpy_dtype
from ..passes.pipeline import Pipeline
from ..runtime.package import Package
from ..targets.options import Options
from ..targets.tuning_file import PACKAGED
from .assemble import BYTECODE, OFFSET
from .build import Progress, build_module


def rebuild(package: Package, machine: str | Sequence[str], progress: Progress) -> Package:
    """Generate code for a machine from the placed IR and the weights of a package.

    Raises CompileError when the package holds no IR that this version reads, and for a machine that
    there is not.
    """
    with new_context():
        module = packaged_module(package)
        manifest = package.manifest
        options = Options(manifest.math.mode, manifest.math.winograd_error, machine=machine)
        tuning = bytes(package.entries.get(PACKAGED, b"")).decode()
        return build_module(
            module, Pipeline(), manifest.target, progress, manifest.source, options, tuning
        )


def packaged_module(package: Package) -> Module:
    """Return the placed IR of a package and its weights, in the current context."""
    module = Module(_parse(package))
    for op in ops(module.operation):
        if isinstance(op, tri.Weight) and OFFSET in op.operation.attributes:
            module.weights[op.name] = _array(package, op)
    return module


def _parse(package: Package) -> ir.Module:
    try:
        return ir.Module.parse(bytes(package.entries[BYTECODE]))
    except KeyError:
        raise CompileError("the package holds no IR to compile again") from None
    except ir.MLIRError as error:
        raise CompileError(f"the package's IR cannot be read: {error}") from None


def _array(package: Package, op: tri.Weight) -> Array:
    offset: int = op.operation.attributes[OFFSET].value
    flat = np.frombuffer(package.weights, np.uint8, op.type.size_bytes, offset)
    return flat.view(numpy_dtype(op.type.dtype)).reshape(op.type.shape)
