"""Make a package anew from the IR in it: for another CPU, or another version of the compiler."""

from collections.abc import Sequence

import numpy as np

from .. import dialects
from ..dialects import tri
from ..dialects.core.attributes import order_of
from ..dialects.core.errors import CompileError
from ..dialects.core.mlir import ir, new_context
from ..dialects.core.module import Module, ops
from ..dialects.core.tensor import Array, numpy_dtype
from ..passes.pipeline import Pipeline, import_all
from ..runtime.manifest import Manifest
from ..runtime.package import Package
from ..targets.core import Progress
from ..targets.options import Options
from ..targets.registry import find_target
from .assemble import BYTECODE, OFFSETS, WEIGHTS
from .build import build_module
from .stages import candidates


def rebuild(package: Package, machine: str | Sequence[str], progress: Progress) -> Package:
    """Generate code for a machine from the placed IR and the weights of a package.

    Raises CompileError when the package holds no IR that this version reads, for a machine that
    there is not, and for a package with programs of accelerators.
    """
    with new_context():
        module = packaged_module(package)
        manifest = package.manifest
        math = manifest.math
        options = Options(math.mode, math.winograd_error, machine=machine, precision=math.precision)
        targets = [find_target(name) for name in candidates(manifest.target)]
        names = [name for target in targets for name in target.kept_entries]
        kept = {name: bytes(package.entries[name]) for name in names if name in package.entries}
        return build_module(
            module, Pipeline(), _target(manifest), progress, manifest.source, options, kept
        )


def _target(manifest: Manifest) -> str:
    """Return the target that a package was compiled for, with its architectures."""
    architectures = [code.architecture for code in manifest.gpu]
    return f"{manifest.target}:{','.join(architectures)}" if architectures else manifest.target


def packaged_module(package: Package) -> Module:
    """Return the placed IR of a package and its weights, in the current context.

    Raises CompileError for programs of accelerators: only packets still read their weights.
    """
    if package.manifest.dla:
        raise CompileError(
            f"the package has what runs on '{package.manifest.target}' as packets alone: "
            "take the model that it was compiled from"
        )
    import_all(dialects)  # targets add ops of their own
    module = Module(_parse(package))
    for op in ops(module.operation):
        if not isinstance(op, tri.Weight):
            continue
        for memory, attribute in OFFSETS.items():
            if attribute in op.operation.attributes:
                offset: int = op.operation.attributes[attribute].value
                module.weights[op.name] = _array(package, op, WEIGHTS[memory], offset)
    return module


def _parse(package: Package) -> ir.Module:
    try:
        return ir.Module.parse(bytes(package.entries[BYTECODE]))
    except KeyError:
        raise CompileError("the package holds no IR to compile again") from None
    except ir.MLIRError as error:
        raise CompileError(f"the package's IR cannot be read: {error}") from None


def _array(package: Package, op: tri.Weight, entry: str, offset: int) -> Array:
    flat = np.frombuffer(package.entries[entry], np.uint8, op.type.size_bytes, offset)
    order = order_of(op.y.type)
    lying = flat.view(numpy_dtype(op.type.dtype)).reshape([op.type.shape[axis] for axis in order])
    return lying.transpose(np.argsort(order)) if order else lying
