"""Convert torch modules by the program `pnnx`, which the extra `trivium[torch]` brings. No MLIR.

Only this file knows torch, and imports it no sooner than there is a module to convert.
"""

import subprocess
import sys
import warnings
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from ....dialects.core.errors import CompileError, Diagnostic
from ....dialects.core.extras import missing
from ....dialects.core.tensor import Array
from .format.graph import Graph
from .format.param_file import read_pnnx

if TYPE_CHECKING:
    import torch

    TorchModule = torch.nn.Module

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


def is_torch_module(model: object) -> "TypeGuard[TorchModule]":
    """Return whether a model is a torch module, without importing torch."""
    torch_nn = sys.modules.get("torch.nn")
    return torch_nn is not None and isinstance(model, torch_nn.Module)


def convert_module(
    module: "TorchModule", example_inputs: Any, whole: Collection[str] = ()
) -> Graph:
    """Trace a module as it is in inference, and return what `pnnx` makes of it.

    `example_inputs` are what `forward` takes, in order: tensors, or lists and tuples of them; the
    graph gets their shapes and types. Modules inside of it whose class is in `whole`, by its full
    name (`models.common.Focus`), become one operator of that type. Raises CompileError when `pnnx`
    is not installed, when the module cannot be traced, and with the words of `pnnx` when it fails.
    """
    program = _program()
    names = {_class_name(each) for each in module.modules()}
    with TemporaryDirectory(prefix="trivium-pnnx-") as folder:
        traced = Path(folder, "net.pt")
        inputs = _trace(module, example_inputs, traced)
        _convert(program, traced, sorted(names.intersection(whole)))
        # The weights stay mapped when their file has lost its name.
        graph = read_pnnx(traced.with_suffix(".pnnx.param"))
    graph.file = type(module).__name__
    _declare_scalars(graph, inputs)
    return graph


def run_module(module: "TorchModule", example_inputs: Any) -> tuple[list[Array], list[Array]]:
    """Return what a module takes and makes in inference, in the order of its graph's operands."""
    inputs = _arguments(example_inputs)
    with _in_inference(module):
        outputs = module(*inputs)
    return [_array(each) for each in _tensors(inputs)], [_array(each) for each in _tensors(outputs)]


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


def _trace(module: "TorchModule", example_inputs: Any, path: Path) -> "list[torch.Tensor]":
    """Write a traced module to a file; return the tensors that are its inputs."""
    import torch

    inputs = _arguments(example_inputs)
    try:
        with _in_inference(module), warnings.catch_warnings():
            # pnnx reads what torch.jit writes, and nothing else.
            warnings.filterwarnings("ignore", r"`torch\.jit\.", DeprecationWarning)
            traced: Any = torch.jit.trace(module, inputs, check_trace=False)  # pyright: ignore
            torch.jit.save(traced, path)  # pyright: ignore
    except Exception as error:  # the module's own code may raise anything
        first, *rest = str(error).strip().splitlines() or [""]
        what = f"'{type(module).__name__}' module cannot be traced"
        message = f"{what}: {type(error).__name__}: {first}"
        raise CompileError([Diagnostic("", message, tuple(rest))]) from error
    return list(_tensors(inputs))


def _arguments(example_inputs: Any) -> tuple[Any, ...]:
    import torch

    alone = isinstance(example_inputs, torch.Tensor)
    return (example_inputs,) if alone else tuple(example_inputs)


def _array(tensor: "torch.Tensor") -> Array:
    """Return a tensor as an array; bf16, which numpy lacks, as f32."""
    import torch

    wide = tensor.float() if tensor.dtype == torch.bfloat16 else tensor
    return wide.detach().cpu().resolve_conj().resolve_neg().numpy()


@contextmanager
def _in_inference(module: "TorchModule") -> Generator[None]:
    """Put a module into its state for inference for a while: no gradients, nothing dropped."""
    import torch

    modes = [(each, each.training) for each in module.modules()]
    mha: Any = torch.backends.mha
    fastpath = mha.get_fastpath_enabled()
    module.eval()
    mha.set_fastpath_enabled(False)  # it makes one operator of a layer, which pnnx does not know
    try:
        with torch.no_grad():
            yield
    finally:
        mha.set_fastpath_enabled(fastpath)
        for each, mode in modes:
            each.training = mode


def _tensors(inputs: Any) -> "Iterator[torch.Tensor]":
    if isinstance(inputs, (list, tuple)):
        for each in cast("list[Any]", inputs):
            yield from _tensors(each)
    else:
        yield inputs


def _convert(program: str, traced: Path, whole: list[str]) -> None:
    """Run `pnnx` on a file; raise CompileError, with the end of its output, when it fails."""
    command = [program, traced.name, "fp16=0", *(f"{name}=/dev/null" for name in _NOT_WANTED)]
    command += [f"moduleop={','.join(whole)}"] if whole else []
    done = subprocess.run(
        command, cwd=traced.parent, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode == 0 and traced.with_suffix(".pnnx.param").exists():
        return
    last = (done.stdout + done.stderr).strip().splitlines()[-_LAST_LINES:]
    message = f"pnnx failed with status {done.returncode}, its last lines follow"
    raise CompileError([Diagnostic("", message, tuple(last))])


def _declare_scalars(graph: Graph, inputs: "list[torch.Tensor]") -> None:
    """Give inputs without axes their type: PNNX writes none for them."""
    operands = [o for each in graph.operators if each.type == "pnnx.Input" for o in each.outputs]
    for operand, tensor in zip(operands, inputs, strict=False):
        if operand.dtype is None and not tensor.shape:
            operand.dtype = _SCALARS.get(str(tensor.dtype).removeprefix("torch."))
            operand.shape = ()
