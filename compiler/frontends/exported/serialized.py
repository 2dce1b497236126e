"""Read programs of torch.export in memory, by the serializer of torch; weights stay where they are.

torch is not imported sooner than there is a program.
"""

import json
from typing import TYPE_CHECKING, Any

from ....dialects.core.errors import CompileError, Diagnostic, Unsupported
from ..torch.modules import raised
from .graph import Program
from .reader import read_program, source_of

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def serialized(program: "ExportedProgram") -> Program:
    """Return what `torch.export.save` would write of a program, with the tensors themselves.

    Raises CompileError when torch cannot serialize the program.
    """
    import torch

    from .torch_weights import torch_weights

    try:
        model = _model(program)
    except Exception as error:  # torch checks what it can write with assertions
        with_graphs = [node for node in program.graph.nodes if _has_graphs(node)]
        if not with_graphs:
            raise raised("torch cannot save the program", error) from error
        raise CompileError(list(map(_not_saved, with_graphs))) from error
    tensors = {**program.state_dict, **program.constants}
    try:
        named = {name: each for name, each in tensors.items() if isinstance(each, torch.Tensor)}
        return read_program(model, torch_weights(named))
    except Unsupported as error:
        raise CompileError(f"the program {error}") from None


def _model(program: "ExportedProgram") -> Any:
    """Return the JSON of a program, which torch.export.save writes beside the weights."""
    import torch
    from torch._export.serde import schema, serialize

    untyped: Any = serialize
    given: Any = program
    graphs = untyped.GraphModuleSerializer(given.graph_signature, given.module_call_graph)
    major, minor = schema.SCHEMA_VERSION
    parts = {
        "graph_module": graphs.serialize(given.graph_module),
        "range_constraints": untyped.serialize_range_constraints(given.range_constraints),
    }
    return {
        # Strings of the serializer are no plain ones: they are not to be compared.
        **{name: json.loads(untyped._to_json_bytes(each)) for name, each in parts.items()},
        "schema_version": {"major": major, "minor": minor},
        "torch_version": torch.__version__,
    }


def _has_graphs(node: Any) -> bool:
    return getattr(node.target, "namespace", "") == "higher_order"


def _not_saved(node: Any) -> Diagnostic:
    """Return the fault of an operator with graphs that torch has no format for."""
    message = (
        f"'higher_order::{node.target}' operator '{node.name}' takes or returns something that is "
        "no tensor, which torch cannot save"
    )
    source = source_of(node.meta.get("stack_trace") or "")
    notes = (source, "carry tensors, torch.tensor(0) instead of 0")
    return Diagnostic(node.name, message, tuple(filter(None, notes)))
