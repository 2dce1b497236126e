"""Export modules of torch, and read programs of `torch.export` that are in memory. No MLIR.

torch is not imported sooner than there is a program or a module.
"""

import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from ....dialects.core.errors import CompileError
from ..torch.aten import aten_rule, overload_name
from ..torch.modules import in_inference, raised
from .example_sizes import Arguments, varying_examples
from .functional import functional, is_in_place
from .graph import Program
from .supported import unsupported_nodes

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from ..torch.torch_types import TorchModule


_TRACED = "converter='pnnx' traces it instead"


def is_exported_program(model: object) -> "TypeGuard[ExportedProgram]":
    """Return whether a model is an exported program, without importing torch."""
    module = sys.modules.get("torch.export")
    return module is not None and isinstance(model, module.ExportedProgram)


def export_module(
    module: "TorchModule",
    example_inputs: Any,
    dynamic_shapes: Any = None,
    example_inputs2: Any = None,
) -> "ExportedProgram":
    """Return the program of a module as it is in inference.

    `example_inputs` are what `forward` takes in order, a tensor that is given alone, or a
    dictionary by name. Free are the sizes that `dynamic_shapes` declares, as `torch.export` takes
    it, or those in which `example_inputs2` differ. Raises CompileError when torch cannot export the
    module.
    """
    import torch

    example = _arguments(example_inputs)
    try:
        with in_inference(module), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of what it does itself
            if example_inputs2 is not None and dynamic_shapes is None:
                several: Any = torch.export.AdditionalInputs()
                several.add(*_arguments(example_inputs2))
                dynamic_shapes = several.dynamic_shapes(module, *example)
            args, kwargs = varying_examples(module, example, dynamic_shapes)
            return torch.export.export(
                module, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False
            )
    except Exception as error:  # the module's own code may raise anything
        what = f"'{type(module).__name__}' module cannot be exported"
        branches = "DataDependent" in type(error).__name__
        advice = "write branches on data by torch.cond" if branches else _TRACED
        raise raised(what, error, advice) from error


def _arguments(example: Any) -> Arguments:
    """Return the arguments of an example in order, and those by name."""
    if isinstance(example, Mapping):
        return (), dict(cast("Mapping[str, Any]", example))
    return ((example,) if hasattr(example, "dtype") else tuple(example)), {}


def read_exported(program: "ExportedProgram") -> Program:
    """Return what a program is, without operators that write in place, and with weights in place.

    Torch takes apart operators without a rule, which is slow: only where there are any, or some
    that write to what only torch can tell. Raises CompileError when torch cannot decompose the
    program, and for one that `read_in_memory` refuses.
    """
    from .fx_reader import read_in_memory

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of what it does itself
        read = _as_it_is(program) or read_in_memory(_decomposed(program))
    return replace(read, symbol_names=_symbol_names(program), is_decomposed=True)


def _as_it_is(program: "ExportedProgram") -> Program | None:
    """Return a functional program if rules serve all of its operators, or None."""
    if any(map(_writes_to_others, program.graph.nodes)):
        return None
    from .fx_reader import read_in_memory

    try:
        made, faults = functional(read_in_memory(program))
    except CompileError:
        return None
    return None if faults or any(unsupported_nodes(made.nodes)) else made


def _writes_to_others(node: Any) -> bool:
    """Return whether an operator writes to another operand than the first one: `out`, for one."""
    schema = getattr(node.target, "_schema", None)
    return getattr(schema, "is_mutable", False) and not is_in_place(overload_name(node.target))


def _symbol_names(program: "ExportedProgram") -> dict[str, str]:
    """Return the names that the user's `Dim`s give to symbols.

    Archives do not have them, the environment in which sizes were made does.
    """
    environment: Any = next(_environments(program), None)
    if environment is None:
        return {}
    symbols: Mapping[str, Any] = environment.source_to_var
    named = {source: source for source in symbols} | environment.source_name_to_debug_name
    return {
        str(symbols[source]): name
        for source, name in named.items()
        if source in symbols and name.isidentifier()
    }


def _environments(program: "ExportedProgram") -> Iterator[Any]:
    """Find the environment of each size that is a symbol."""
    for node in program.graph.nodes:
        value: Any = node.meta.get("val")
        for size in getattr(value, "shape", ()):
            if hasattr(size, "node"):
                yield size.node.shape_env


def _decomposed(program: "ExportedProgram") -> "ExportedProgram":
    untyped: Any = program
    try:
        return untyped.run_decompositions(_decompositions())
    except Exception as error:  # decompositions and custom operators may raise anything
        raise raised("torch cannot decompose the program", error) from error


def _namespace(target: Any) -> str:
    return getattr(target, "namespace", "")


@cache
def _decompositions() -> dict[Any, Any]:
    """Return torch's decompositions of the operators that have no rule."""
    import torch
    from torch import _decomp

    everything: Any = _decomp
    table: dict[Any, Any] = {
        **everything.decomposition_table,
        **torch.export.default_decompositions(),
    }
    return {
        overload: function
        for overload, function in table.items()
        if _namespace(overload) == "aten" and aten_rule(overload_name(overload)) is None
    }
