"""Read and write `.pnnx.param`: one operator a line, and the weights in the zip beside it. No MLIR.

7767517
3 2
pnnx.Input  x    0 1 0   #0=(1,8)f32
nn.Linear   fc   1 1 0 1 bias=True @bias=(4)f32 @weight=(4,8)f32 $input=0 #0=(1,8)f32 #1=(1,4)f32
pnnx.Output out  1 0 1   #1=(1,4)f32
"""

import os
from pathlib import Path

from .....dialects.core.errors import CompileError, Diagnostic
from .archive import Archive, write_archive
from .attributes import Attribute
from .graph import Graph
from .operator import Operator
from .param_reader import MAGIC, ParamReader
from .tensor_type import spell_type

PathName = str | os.PathLike[str]


def read_pnnx(source: PathName, bin_path: PathName | None = None) -> Graph:
    """Read a PNNX model: a `.param` file, or the text of one, and the `.bin` with its weights.

    Without `bin_path` the `.bin` beside the file is used. Weights are read on first use. Raises
    CompileError, with file and line, for a fault of either file.
    """
    if isinstance(source, str) and "\n" in source:
        archive = None if bin_path is None else Archive(bin_path)
        return ParamReader("<text>", archive).read(source.encode())
    path = Path(source)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CompileError([Diagnostic(str(path), f"cannot be read: {reason}")]) from None
    return ParamReader(str(path), _weights(path, bin_path)).read(data)


def write_pnnx(graph: Graph, param_path: PathName, bin_path: PathName) -> None:
    """Write a graph to a pair of files; unchanged operators have the same bytes again.

    The files may be those that the graph was read from. Raises CompileError when the graph does
    not hold together, a weight was cleared, or a file cannot be written; the files that were there
    are then as they were.
    """
    graph.verify()
    lines = [MAGIC, f"{len(graph.operators)} {len(graph.operands)}"]
    lines += [_line(operator) for operator in graph.operators]
    text = "\n".join([*lines, ""]).encode()
    weights = {
        f"{operator.name}.{key}": _bytes(attribute)
        for operator in graph.operators
        for key, attribute in operator.attributes.items()
    }
    # Not in place: weights may still be mapped from the file that is written.
    new_param, new_bin = _new(param_path), _new(bin_path)
    try:
        write_archive(new_bin, weights)
        new_param.write_bytes(text)
        new_bin.replace(bin_path)
        new_param.replace(param_path)
    except OSError as error:
        where = os.fspath(param_path)
        words = f"cannot be written with its weights: {error.strerror}"
        raise CompileError([Diagnostic(where, words)]) from None
    finally:
        new_bin.unlink(missing_ok=True)
        new_param.unlink(missing_ok=True)


def _weights(path: Path, bin_path: PathName | None) -> Archive | None:
    if bin_path is not None:
        return Archive(bin_path)
    beside = path.with_suffix(".bin")
    return Archive(beside) if path.suffix == ".param" and beside.exists() else None


def _new(path: PathName) -> Path:
    return Path(f"{os.fspath(path)}.new")


def _bytes(attribute: Attribute) -> memoryview:
    return attribute.raw() if attribute.dtype else memoryview(b"")


def _line(operator: Operator) -> str:
    counts = f"{len(operator.inputs)} {len(operator.outputs)}"
    tokens = [f"{operator.type:<24} {operator.name:<24} {counts}"]
    tokens += [operand.name for operand in (*operator.inputs, *operator.outputs)]
    tokens += [f"{key}={parameter.text}" for key, parameter in operator.parameters.items()]
    tokens += [f"@{key}={attribute}" for key, attribute in operator.attributes.items()]
    slots = zip(operator.slots, operator.inputs, strict=True)
    tokens += [f"${slot}={operand.name}" for slot, operand in slots if slot]
    for operand in (*operator.inputs, *operator.outputs):
        if operand.shape is not None:
            tokens.append(f"#{operand.name}={spell_type(operand.shape, operand.dtype)}")
    return " ".join(tokens)
