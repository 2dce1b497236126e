"""Read the placed IR of a package, and check all of it that code generation relies on."""

from collections.abc import Iterator

import numpy as np

from .. import dialects
from ..dialects import tri
from ..dialects.core.attributes import from_attribute, order_of
from ..dialects.core.discovery import import_all
from ..dialects.core.errors import CompileError, Diagnostic, Invalid
from ..dialects.core.ir.bytecode import read_bytecode
from ..dialects.core.ir.diagnostics import compile_error
from ..dialects.core.location import describe
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, ops
from ..dialects.core.tensor import Array, numpy_dtype
from ..passes.rewriting import uses
from ..runtime.contents import PROCESS, WEIGHTS_ENTRY
from ..runtime.file.compression import decompressed
from ..runtime.manifest import Manifest
from ..runtime.package import Package
from ..targets.placement.verify_placed import verify_placed
from ..targets.registry import choose_targets
from .assemble import BYTECODE, offset_attribute


def targets_of(manifest: Manifest) -> str:
    """Return the targets of a package, with their architectures, as `choose_targets` takes them."""
    variants = {part.kind: "+".join(part.variants) for part in manifest.parts if part.variants}
    names = manifest.targets or (manifest.target,)
    return ",".join(f"{name}:{variants[name]}" if name in variants else name for name in names)


def packaged_module(package: Package) -> Module:
    """Return the placed IR of a package and its weights, in the current context.

    Raises CompileError for programs of accelerators, since only packets still read their weights;
    and, in one line, for IR that is damaged or that its targets cannot compile as it is.
    """
    if any(part.lacks_ir for part in package.manifest.parts):
        raise CompileError(
            f"the package has what runs on '{package.manifest.target}' as packets alone: "
            "take the model that it was compiled from"
        )
    if BYTECODE not in package.entries:
        raise CompileError(
            "the package holds no IR to compile again: take the model that it was compiled from"
        )
    import_all(dialects.__name__)
    targets = choose_targets(targets_of(package.manifest))
    text = read_bytecode(bytes(package.entries[BYTECODE]), BYTECODE)
    try:
        module = Module.parse(text)
        verify_placed(module, targets)
        module.weights.update(_weights(module, package))
    except ir.MLIRError as error:
        raise _first_fault(compile_error(error)) from None
    except CompileError as error:
        raise _first_fault(error) from None
    return module


def _first_fault(error: CompileError) -> CompileError:
    """Name the entry of the package that is at fault, in one line."""
    first = error.diagnostics[0]
    where = f"{first.where}: " if first.where else ""
    return CompileError([Diagnostic(BYTECODE, f"is not valid: {where}{first.message}")])


def _weights(module: Module, package: Package) -> Iterator[tuple[str, Array]]:
    """Yield the weights that the IR uses, by name; raises CompileError for one not stored."""
    types: dict[str, ir.Type] = {}
    for op in ops(module.operation):
        if not isinstance(op, tri.Weight) or not uses(op.y):
            continue
        try:
            if types.setdefault(op.name, op.y.type) != op.y.type:
                raise Invalid(f"is {op.y.type}, another weight '{op.name}' is {types[op.name]}")
            yield op.name, _weight(op, package)
        except Invalid as error:
            message = f"'{op.op_name}' op {error}"
            raise CompileError([Diagnostic(describe(op.location), message)]) from None


def _weight(op: tri.Weight, package: Package) -> Array:
    """Return the array of a weight, from the first memory that stores it."""
    spaces = {space.name: space.weights_entry for space in package.manifest.spaces}
    entries = {PROCESS: WEIGHTS_ENTRY} | spaces
    stored = [name for name in entries if offset_attribute(name) in op.operation.attributes]
    if not stored:
        raise Invalid(f"lacks attribute '{offset_attribute(PROCESS)}'")
    attribute, entry = offset_attribute(stored[0]), entries[stored[0]]
    try:
        offset = from_attribute(op.operation.attributes[attribute], int)
    except Invalid as error:
        raise Invalid(f"attribute '{attribute}' is {error}") from None
    sizes = {space.weights_entry: space.weight_bytes for space in package.manifest.spaces}
    data = decompressed(package.entries, entry, sizes[entry]) if entry in sizes else package.weights
    size = op.type.size_bytes
    if not 0 <= offset <= len(data) - size:
        raise Invalid(f"has {size} bytes at offset {offset}, '{entry}' has {len(data)} bytes")
    order = order_of(op.y.type)
    flat = np.frombuffer(data, np.uint8, size, offset).view(numpy_dtype(op.type.dtype))
    return flat.reshape([op.type.shape[a] for a in order]).transpose(np.argsort(order))
