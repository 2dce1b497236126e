"""Convert torch modules by the program `pnnx`, which the extra `trivium[torch]` brings. No MLIR.

Only this file knows torch, and imports it no sooner than there is a module to convert.
"""

import subprocess
import warnings
from collections.abc import Collection, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.extras import missing
from ....dialects.core.tensor import Array
from ..core.inputs import spell_shape
from ..torch.modules import in_inference, raised
from .dynamic_shapes import Axes
from .examples import Examples, shapes_of, tensors_of
from .format.graph import Graph
from .format.param_file import read_pnnx
from .trace_differences import refuse_differences

if TYPE_CHECKING:
    from ..torch.torch_types import TorchModule, TorchTensor

_SCALARS = {
    **{"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"},
    **{"int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8"},
    **{"bool": "bool", "complex32": "c32", "complex64": "c64", "complex128": "c128"},
}
"""PNNX's words for the types of torch."""

_NOT_WANTED = ("ncnnparam", "ncnnbin", "ncnnpy", "pnnxpy", "pnnxonnx")
"""Files that `pnnx` writes as well."""

_LAST_LINES = 8
"""The most characters of the output of `pnnx` in an error."""


def convert_module(module: "TorchModule", examples: Examples, whole: Collection[str] = ()) -> Graph:
    """Trace a module as it is in inference, and return what `pnnx` makes of it.

    The graph gets the shapes and types of the examples; free sizes have their names, or none.
    Modules inside of it whose class is in `whole`, by its full name (`models.common.Focus`), become
    one operator of that type. Raises CompileError when `pnnx` is not installed, when the module
    cannot be traced, when its traces for two examples have other constants, and with the words of
    `pnnx` when it fails.
    """
    program = _program()
    names = {_class_name(each) for each in module.modules()}
    with TemporaryDirectory(prefix="trivium-pnnx-") as folder:
        path = Path(folder, "net.pt")
        trace = _trace(module, examples.first, path)
        if examples.second:
            other = _trace(module, examples.second)
            refuse_differences(trace.inlined_graph, other.inlined_graph)
        options = _example_files(examples, Path(folder)) if examples.second else []
        _convert(program, path, options, sorted(names.intersection(whole)))
        # The weights stay mapped when their file has lost its name.
        graph = read_pnnx(path.with_suffix(".pnnx.param"))
    graph.file = type(module).__name__
    _declare_inputs(graph, list(tensors_of(examples.first)), examples.free)
    return graph


def run_module(module: "TorchModule", inputs: tuple[Any, ...]) -> tuple[list[Array], list[Array]]:
    """Return what a module takes and makes in inference, in the order of its graph's operands."""
    with in_inference(module):
        outputs = module(*inputs)
    return [_array(each) for each in tensors_of(inputs)], [
        _array(each) for each in tensors_of(outputs)
    ]


def _program() -> str:
    try:
        program: str = import_module("pnnx").EXEC_PATH
    except ModuleNotFoundError:
        raise missing("pnnx", "converting a torch module") from None
    return program


def _class_name(module: "TorchModule") -> str:
    """Return the name that a class has in a traced file."""
    kind = type(module)
    place = "" if kind.__module__ == "__main__" else f"{kind.__module__}."
    return place + kind.__name__


def _trace(module: "TorchModule", inputs: tuple[Any, ...], path: Path | None = None) -> Any:
    """Return a traced module, and write it to a file if one is named."""
    import torch

    try:
        with in_inference(module), warnings.catch_warnings():
            # pnnx reads what torch.jit writes, and nothing else.
            warnings.filterwarnings("ignore", r"`torch\.jit\.", DeprecationWarning)
            jit: Any = torch.jit
            traced = jit.trace(module, inputs, check_trace=False)
            if path is not None:
                jit.save(traced, path)
            return traced
    except Exception as error:  # the module's own code may raise anything
        shapes = ", ".join(map(spell_shape, shapes_of(inputs)))
        what = f"'{type(module).__name__}' module cannot be traced"
        raise raised(what, error, f"its inputs have shapes {shapes}") from error


def _example_files(examples: Examples, folder: Path) -> list[str]:
    """Write examples to files; return the options of `pnnx` that name them."""
    options: list[str] = []
    for option, inputs in (("input", examples.first), ("input2", examples.second)):
        names: list[str] = []
        for index, tensor in enumerate(tensors_of(inputs)):
            if (word := str(tensor.dtype)) == "torch.bfloat16":
                message = f"input is of type {word}, of which pnnx reads no example: fix its sizes"
                raise CompileError([Diagnostic(f"in{index}", message)])
            names.append(f"{option}-{index}.npy")
            np.save(folder / names[-1], _array(tensor))
        options.append(f"{option}={','.join(names)}")
    return options


def _array(tensor: "TorchTensor") -> Array:
    """Return a tensor as an array; bf16, which numpy lacks, as f32."""
    import torch

    wide = tensor.float() if tensor.dtype == torch.bfloat16 else tensor
    return wide.detach().cpu().resolve_conj().resolve_neg().numpy()


def _convert(program: str, traced: Path, options: list[str], whole: list[str]) -> None:
    """Run `pnnx` on a file; raise CompileError, with the end of its output, when it fails."""
    command = [program, traced.name, "fp16=0", *(f"{name}=/dev/null" for name in _NOT_WANTED)]
    command += [*options, *([f"moduleop={','.join(whole)}"] if whole else [])]
    done = subprocess.run(
        command, cwd=traced.parent, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode == 0 and traced.with_suffix(".pnnx.param").exists():
        return
    last = (done.stdout + done.stderr).strip().splitlines()[-_LAST_LINES:]
    message = f"pnnx failed with status {done.returncode}, its last lines follow"
    raise CompileError([Diagnostic("", message, tuple(last))])


def _declare_inputs(
    graph: Graph, inputs: "Sequence[TorchTensor]", free: Sequence[Axes] = ()
) -> None:
    """Name the free sizes of inputs, and give those without axes the type that PNNX leaves out."""
    operands = [o for each in graph.operators if each.type == "pnnx.Input" for o in each.outputs]
    for index, (operand, tensor) in enumerate(zip(operands, inputs, strict=False)):
        if operand.dtype is None and not tensor.shape:
            operand.dtype = _SCALARS.get(str(tensor.dtype).removeprefix("torch."))
            operand.shape = ()
        elif free:
            operand.shape = tuple(
                (free[index][axis].name or None) if axis in free[index] else size
                for axis, size in enumerate(tensor.shape)
            )
