"""An ONNX graph that is being written, and the table of rules that write it."""

from collections.abc import Sequence
from copy import copy
from typing import Any, cast

import numpy as np
import onnx
from onnx import defs, helper

from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Unsupported
from ....dialects.core.location import node_names
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.limits import at_least
from ....dialects.core.tensor import Array, Tensor, numpy_dtype
from ..flow import Flow, Names, Rules, unique
from .size_nodes import SizeNodes, sources_of

RULES = Rules("ONNX")
exports = RULES.exports

OLDEST = 18
"""The least opset of models; rules may require a newer one."""

Input = ir.Value | Array | str | None
"""An input of a node: a value, an array that becomes a constant, a name, or nothing."""


class OnnxGraph:
    """Gather nodes and constants; `opsets` has the least version of each domain for all of them."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.names = Names(flow, str)
        self.opsets = {"": OLDEST}
        self.nodes: list[onnx.NodeProto] = []
        sources = sources_of(flow.inputs.values(), flow.ops)
        self.sizes = SizeNodes(self.add_size_node, sources)
        self.initializers: dict[str, Array] = {}
        self._types: dict[str, str] = {}
        self._constants: dict[ir.Value, str] = {}
        self._op: Op | None = None
        self._node_names: set[str] = set()

    def begin(self, op: Op | None) -> None:
        """Record the op that the next nodes implement, None for nodes of no op."""
        self._op = op

    def add(
        self,
        op_type: str,
        inputs: Sequence[Input],
        outputs: Sequence[ir.Value | str],
        *,
        since: int = OLDEST,
        **attributes: Any,
    ) -> None:
        """Add a node of an operator as it is since an opset; an attribute of None is left out.

        An operator of another domain than ONNX's own is called `ai.onnx.ml::TreeEnsemble`.
        Raises Unsupported when ONNX does not have the operator for these element types.
        """
        names = [self._input(each) for each in inputs]
        while names and not names[-1]:
            names.pop()
        made = [self._name(each) for each in outputs]
        domain, _, op_type = op_type.rpartition("::")
        version = self._version(op_type, domain, since if domain else max(since, OLDEST), names)
        self.opsets[domain] = max(self.opsets.get(domain, 1), version)
        given = {key: value for key, value in attributes.items() if value is not None}
        name = self._node_name(op_type)
        self.nodes.append(helper.make_node(op_type, names, made, name, domain=domain, **given))

    def array(self, value: ir.Value, what: str) -> Array:
        """Return a constant that ONNX takes as an attribute; Unsupported for what is computed."""
        array = self.flow.array(self.flow.resolve(value))
        if array is None:
            raise Unsupported(f"has {what} that are computed, ONNX takes constants")
        return array

    def add_size_node(self, op_type: str, inputs: Sequence[Input], **attributes: Any) -> str:
        """Add a node that computes sizes, which no node of the model is named after."""
        op, self._op = self._op, None
        made = self.named("size", "i64")
        self.add(op_type, inputs, [made], **attributes)
        self._op = op
        return made

    def reshape(self, x: Input, shape: Sequence[Size], y: ir.Value | str) -> None:
        """Add a node that gives a tensor a shape, as it is: ONNX reads 0 as the size of `x`."""
        zero = None if all(at_least(size, 1) for size in shape) else 1
        self.add("Reshape", [x, self.sizes.vector(shape)], [y], allowzero=zero)

    def nested(
        self,
        block: ir.Block,
        arguments: Sequence[tuple[ir.Value, ir.Value]],
        own: Sequence[ir.Value] = (),
    ) -> "OnnxGraph":
        """Return the graph of a body, of whose arguments some are values around it.

        It shares constants and names with this one. Its `own` arguments may have sizes of theirs.
        """
        made = copy(self)
        made.flow, made.nodes = self.flow.nested(block, arguments), []
        made.sizes = self.sizes.inside(made.add_size_node, sources_of(own, made.flow.ops))
        return made

    def inner(self) -> "OnnxGraph":
        """Return the graph of a body that is written as nodes: names and constants are shared."""
        made = copy(self)
        made.nodes = []
        return made

    def value_info(self, value: ir.Value) -> onnx.ValueInfoProto:
        """Return the name and the type of a value."""
        return type_info(self._name(value), tensor_of(value.type))

    def add_output(self, name: str, value: ir.Value) -> None:
        """Make sure that a value has the name of an output."""
        self.begin(None)
        taken = self._input(value)
        if taken != name:
            self._types[name] = tensor_of(value.type).dtype
            self.add("Identity", [value], [name])

    def between(self, like: ir.Value, hint: str) -> str:
        """Name a tensor between two nodes, of the element type of a value."""
        hint = f"{self.names.of(self.flow.resolve(like))}.{hint}"
        return self.named(hint, tensor_of(like.type).dtype)

    def named(self, hint: str, dtype: str) -> str:
        """Name a tensor between two nodes, of an element type."""
        name = self.names.fresh(hint)
        self._types[name] = dtype
        return name

    def values(self, op: Op) -> list[ir.Value | None]:
        """List the operands of an op, field by field, None where an optional one is absent."""
        listed: list[ir.Value | None] = []
        for group in op.operand_groups():
            listed += cast("list[ir.Value]", group) if isinstance(group, list) else [group]
        return listed

    def _name(self, value: ir.Value | str) -> str:
        if isinstance(value, str):
            return value
        name = self.names.of(self.flow.resolve(value))
        self._types[name] = tensor_of(value.type).dtype
        return name

    def _input(self, each: Input) -> str:
        if each is None:
            return ""
        if isinstance(each, np.ndarray):
            return self._constant(self.names.fresh("constant"), each)
        if isinstance(each, str):
            return each
        value = self.flow.resolve(each)
        array = self.flow.array(value)
        if array is None:
            return self._name(value)
        if value not in self._constants:
            self._constants[value] = self._constant(self.names.of(value), array)
        return self._constants[value]

    def _constant(self, name: str, array: Array) -> str:
        self.initializers[name] = array
        self._types[name] = Tensor.of(array).dtype
        return name

    def _version(self, op_type: str, domain: str, since: int, names: Sequence[str]) -> int:
        """Return the least opset, at least `since`, whose operator takes these element types.

        Of domains that are not ONNX's, such as ONNX Runtime's, it is `since`.
        """
        if domain not in defs.C.schema_version_map():
            return since
        types = [onnx_type(self._types[name]) if name else "" for name in names]
        newest = defs.C.schema_version_map()[domain][1]
        for version in range(since, newest + 1):
            formal = defs.get_schema(op_type, version, domain).inputs
            allowed = [formal[min(i, len(formal) - 1)].types for i in range(len(types))]
            if all(not t or t in some for t, some in zip(types, allowed, strict=True)):
                return version
        dtypes = dict.fromkeys(self._types[name] for name in names if name)
        raise Unsupported(f"takes {', '.join(dtypes)}, which ONNX's {op_type} does not")

    def _node_name(self, op_type: str) -> str:
        names = node_names(self._op.location) if self._op is not None else ()
        return unique("+".join(names) or op_type, self._node_names)


def element_type(dtype: str) -> int:
    """Return ONNX's number of an element type."""
    return cast("int", helper.np_dtype_to_tensor_dtype(numpy_dtype(dtype)))


def type_info(name: str, tensor: Tensor) -> onnx.ValueInfoProto:
    """Return a type with a name; sizes that symbols decide are named by their expressions."""
    shape = [str(size) if is_symbolic(size) else size for size in tensor.shape]
    return helper.make_tensor_value_info(name, element_type(tensor.dtype), shape)


def onnx_type(dtype: str) -> str:
    """Return how ONNX's schemas call a tensor of an element type: `tensor(float)`."""
    return f"tensor({onnx.TensorProto.DataType.Name(element_type(dtype)).lower()})"


def ints(*numbers: int) -> Array:
    """Return numbers as ONNX takes them for axes, shapes and places."""
    return np.array(numbers, np.int64)
