"""IR in files: text (`.mlir`) or bytecode (`.mlirbc`), with its weights in a file beside it.

The IR names its weights and does not contain them. `model.mlir` has them in `model.weights.npz`, a
file that numpy reads.
"""

import os
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from ..dialects import tri
from ..dialects.core.errors import CompileError, Diagnostic
from ..dialects.core.files import replaced_file, write_file
from ..dialects.core.ir.parser import parse_ir
from ..dialects.core.location import describe
from ..dialects.core.module import Module, functions, operations, ops
from ..dialects.core.op import view
from ..dialects.core.tensor import Array, numpy_dtype
from ..targets.registry import load_dialects

WEIGHTS_SUFFIX = ".weights.npz"
RETURN = "func.return"

ADVICE = "write the IR with its weights: trivium export MODEL -o FILE.mlir"


def save_ir(module: Module, path: str | os.PathLike[str], *, bytecode: bool = False) -> None:
    """Write IR as text or as bytecode, and its weights beside it.

    The text has locations, which name nodes and values of the model. Raises CompileError when a
    file cannot be written.
    """
    save_weights(module.weights, path)
    if bytecode:
        data = BytesIO()
        module.operation.write_bytecode(data)
        write_file(path, data.getvalue())
    else:
        write_file(path, module.operation.get_asm(enable_debug_info=True))


def load_ir(path: str | os.PathLike[str]) -> Module:
    """Read and verify IR, with the weights beside it, in the current context.

    Raises CompileError for a file that is missing or invalid, and for weights that are missing or
    of another type than the IR says.
    """
    file = Path(path)
    module = Module(parse_ir(str(file)))
    load_dialects(module.operation)
    module.verify()
    _require_model(module, file)
    module.weights |= load_weights(path)
    _require_weights(module, weights_path(path))
    return module


def _require_model(module: Module, file: Path) -> None:
    """Raise CompileError unless a module is one function of ops of ours, as every model is."""
    found = list(functions(module.operation))
    if len(found) != 1:
        raise CompileError([Diagnostic(str(file), f"has {len(found)} functions, must have 1")])
    foreign = [op for op in operations(found[0]) if view(op) is None and op.name != RETURN]
    if foreign:
        faults = [(describe(op.location), f"'{op.name}' op is not of Trivium") for op in foreign]
        raise CompileError([Diagnostic(where, f"{what}, must be") for where, what in faults])


def weights_path(path: str | os.PathLike[str]) -> Path:
    """Return where the weights of a file of IR are: `model.weights.npz` for `model.mlir`."""
    return Path(path).with_suffix(WEIGHTS_SUFFIX)


def save_weights(weights: Mapping[str, Array], path: str | os.PathLike[str]) -> None:
    """Write the weights of the file of IR at `path`, if there are any."""
    if not weights:
        return
    with replaced_file(weights_path(path)) as file, ZipFile(file, "w") as archive:
        for name, array in weights.items():
            # With a fixed date, so that equal weights make equal files.
            with archive.open(ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
                npy.write_array(entry, array, allow_pickle=False)


def load_weights(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Read the weights of the file of IR at `path`; none where there is no file of weights."""
    beside = weights_path(path)
    if not beside.exists():
        return {}
    try:
        with np.load(beside, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, AttributeError, TypeError, BadZipFile):
        raise CompileError([Diagnostic(str(beside), "is not an .npz file of arrays")]) from None


def _require_weights(module: Module, beside: Path) -> None:
    """Give each weight the element type that the IR says; raise CompileError where it has none."""
    faults: list[Diagnostic] = []
    for op in ops(module.operation):
        if not isinstance(op, tri.Weight):
            continue
        array = module.weights.get(op.name)
        if array is None:
            missing = f"'{op.op_name}' op has no array, must have '{op.name}' in '{beside}'"
            faults.append(Diagnostic(op.name, missing))
            continue
        dtype = numpy_dtype(op.type.dtype)
        if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:
            array = array.view(dtype)  # bf16 and the like, which numpy does not name in files
        if (array.shape, array.dtype) != (op.type.shape, dtype):
            found = f"{array.dtype} of shape {array.shape}"
            must = f"must be {dtype} of shape {op.type.shape}"
            wrong = f"'{op.op_name}' op has {found} in '{beside}', {must}"
            faults.append(Diagnostic(op.name, wrong))
        module.weights[op.name] = array
    if faults:
        raise CompileError([*faults, Diagnostic("", ADVICE)])
