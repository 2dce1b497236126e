"""Read the JSON of an exported program. Neither torch nor MLIR.

An argument is a dictionary with one key, which says what the argument is: `as_tensor`, `as_ints`.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from ....dialects.core.errors import CompileError, Unsupported
from ..torch.node import Weight
from .graph import (
    Graph,
    Port,
    Program,
    ProgramNode,
    ProgramSize,
    Reference,
    Result,
    SizeFormula,
    TensorType,
    Unread,
)
from .scalar_types import scalar_type

Json = dict[str, Any]

MAJOR = 8
"""The version of the schema that is read; another one may give the same words other meanings."""

_ATEN = "torch.ops."
_EMPTY_STACK = "_empty_nn_module_stack"
_GENERATED = "<eval_with_key>"
"""The file of code that torch has made of a graph."""

_MODULES = "/torch/nn/"
"""A part of the paths of torch's own modules."""


def read_program(model: Json, weights: Mapping[str, Weight]) -> Program:
    """Read the JSON of a program; raises KeyError, TypeError or ValueError where it is broken.

    Raises CompileError for another version of the schema.
    """
    version = model["schema_version"]["major"]
    if version != MAJOR:
        what = f"the program, which torch {model.get('torch_version', '')} has saved,"
        advice = "export the model again with torch 2.10 to 2.13"
        raise CompileError(f"{what} has schema version {version}, must be {MAJOR}: {advice}")
    module = model["graph_module"]
    graph, signature = module["graph"], module["signature"]
    outputs = [_port(each) for each in signature["output_specs"]]
    return Program(
        inputs=[_port(each) for each in signature["input_specs"]],
        outputs=outputs,
        nodes=[_node(each) for each in graph["nodes"]],
        types=_types(graph),
        weights=weights,
        ranges={
            # Torch's least size, 0, is no wish for empty tensors.
            name: (max(each["min_val"] or 1, 1), each["max_val"])
            for name, each in model["range_constraints"].items()
        },
        output_names=_output_names(module["module_call_graph"][0]["signature"]["out_spec"]),
    )


def _port(spec: Json) -> Port:
    ((kind, body),) = spec.items()
    targets = [text for key, text in body.items() if key.endswith("_name")]
    given: Any = body.get("arg")
    if kind == "constant_input":
        ((_, value),) = body["value"].items() if "value" in body else (("", None),)
        return Port(kind, value, body.get("name", ""))
    if given is None:
        return Port(kind, None, *targets)
    value = Reference(_text(given["name"])) if "name" in given else _argument(given)
    return Port(kind, value, *targets)


def _node(node: Json) -> ProgramNode:
    # Those of operators with graphs have no names.
    arguments = {
        each["name"] or str(index): _argument(each["arg"])
        for index, each in enumerate(node["inputs"])
    }
    metadata: Json = node.get("metadata") or {}
    results = [_result(each) for each in node["outputs"]]
    name = node.get("name") or (results[0].names[0] if results else node["target"])
    return ProgramNode(
        name=_text(name),
        type=_operator(node["target"]),
        arguments=arguments,
        results=results,
        path=_path(metadata.get("nn_module_stack", "")),
        source=source_of(metadata.get("stack_trace", "")),
        custom=json.loads(metadata.get("custom", "{}")),
    )


def _operator(target: str) -> str:
    """Return `aten::add.Tensor` for `torch.ops.aten.add.Tensor`."""
    if not target.startswith(_ATEN):
        return target
    namespace, _, name = target.removeprefix(_ATEN).partition(".")
    return f"{namespace}::{name.removesuffix('.default')}"


def _path(stack: str) -> str:
    """Return the path of the innermost module, as `layers.0.attention`."""
    if not stack or stack.startswith(_EMPTY_STACK):
        return ""
    return stack.split(";")[-1].split(",")[1]


def source_of(trace: str) -> str:
    """Return the innermost line of a stack trace that is not of torch's own modules.

    It is like `File "net.py", line 3, in forward`.
    """
    lines = (line.strip() for line in trace.splitlines())
    files = [line for line in lines if line.startswith("File ") and _GENERATED not in line]
    own = [line for line in files if _MODULES not in line]
    return (own or files or [""])[-1]


def _result(given: Json) -> Result:
    ((kind, body),) = given.items()
    if kind == "as_tensor":
        return Result((_text(body["name"]),))
    if kind in ("as_tensors", "as_optional_tensors"):
        return Result(tuple(_text(each["name"]) for each in body), True)
    if kind in ("as_sym_int", "as_sym_bool", "as_sym_float"):
        return Result((_text(body["as_name"]),))
    if kind == "as_none":
        return Result(("",))
    raise Unsupported(f"has a result '{kind}', which is not supported")


def _text(name: Any) -> str:
    if not isinstance(name, str):
        raise ValueError(f"a name is {name}, must be text")
    return name


def _identity(body: Any) -> Any:
    return body


def _size(body: Json) -> Any:
    """Read a size: a number, or the name of a value that is one."""
    ((kind, value),) = body.items()
    return Reference(_text(value)) if kind == "as_name" else value


def _optional(body: Json) -> Any:
    ((kind, value),) = body.items()
    return Reference(_text(value["name"])) if kind == "as_tensor" else None


def _graph(body: Json) -> Graph:
    graph: Json = body["graph"]
    return Graph(
        inputs=[_argument(each) for each in graph["inputs"]],
        outputs=[_argument(each) for each in graph["outputs"]],
        nodes=[_node(each) for each in graph["nodes"]],
        types=_types(graph),
    )


def _types(graph: Json) -> dict[str, TensorType]:
    return {name: _type(each) for name, each in graph["tensor_values"].items()}


_ARGUMENTS: dict[str, Callable[[Any], Any]] = {
    "as_none": lambda body: None,
    "as_tensor": lambda body: Reference(_text(body["name"])),
    "as_tensors": lambda body: [Reference(_text(each["name"])) for each in body],
    "as_optional_tensors": lambda body: [_optional(each) for each in body],
    "as_graph": _graph,
    "as_operator": _operator,
    "as_nested_tensors": lambda body: [
        [Reference(_text(x["name"])) for x in each] for each in body
    ],
    "as_scalar_type": scalar_type,
    "as_sym_int": _size,
    "as_sym_ints": lambda body: [_size(each) for each in body],
    "as_sym_bool": _size,
    "as_sym_float": _size,
    "as_sym_floats": lambda body: [_size(each) for each in body],
    "as_device": lambda body: None,
    "as_layout": lambda body: None,
    "as_memory_format": lambda body: None,
    "as_complex": lambda body: complex(body["real"], body["imag"]),
    **dict.fromkeys(
        ("as_int", "as_ints", "as_bool", "as_bools", "as_string"),
        _identity,
    ),
    # Infinity and not a number are text.
    "as_float": float,
    "as_floats": lambda body: [float(each) for each in body],
    "as_strings": _identity,
}


def _argument(given: Json) -> Any:
    ((kind, body),) = given.items()
    return _ARGUMENTS[kind](body) if kind in _ARGUMENTS else Unread(kind)


def _type(given: Json) -> TensorType:
    return TensorType(scalar_type(given["dtype"]), tuple(_dimension(x) for x in given["sizes"]))


def _dimension(given: Json) -> ProgramSize:
    if "as_int" in given:
        return int(given["as_int"])
    return SizeFormula(str(given["as_expr"]["expr_str"]))


# -- names of outputs -------------------------------------------------------------------------


def _output_names(text: str) -> list[str]:
    """Name what a model returns: by the keys of dictionaries, by its place in tuples."""
    _, spec = json.loads(text)
    names: list[str] = []
    _collect(spec, "", names)
    return [name if name and not name[0].isdigit() else f"out{name or 0}" for name in names]


def _collect(spec: Json, prefix: str, names: list[str]) -> None:
    if spec["type"] is None:
        names.append(prefix)
        return
    children = cast("list[Json]", spec["children_spec"])
    for key, child in zip(_keys(spec, len(children)), children, strict=True):
        _collect(child, f"{prefix}.{key}" if prefix else key, names)


def _keys(spec: Json, count: int) -> list[str]:
    """Return the keys of a dictionary or of a class that is registered as one, else numbers."""
    context = spec["context"]
    read = json.loads(context) if isinstance(context, str) and context else None
    if isinstance(read, list) and len(cast("list[Any]", read)) == 1 and count != 1:
        (read,) = cast("list[Any]", read)
    if isinstance(read, list):
        keys = cast("list[Any]", read)
        if len(keys) == count and all(isinstance(key, str) for key in keys):
            return keys
    return [str(index) for index in range(count)]
