"""`Op`, the base of every op of every dialect: an op is fields + `infer` + `reference`.

From these three come the verifier, the builder, the folder, the interpreter and the property
tests. Op classes are plain Python and need no MLIR context to infer or to compute; `registration`
tells MLIR about them.
"""

import difflib
import re
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar, cast

from .attributes import from_attribute, read_attribute, tensor_of, to_attribute, type_of
from .errors import Invalid, Unsupported
from .fields import Accessor, AttributeField, Fields, Group
from .mlir import announce_dialect, ir
from .quantized import is_quantized, single_scale

Self = TypeVar("Self", bound="Op")

SEGMENTS = "operandSegmentSizes"
"""The attribute that counts the values of each operand field, where these can differ."""


class Dialect:
    """Name a family of ops; every `Op` subclass that says `dialect=` registers here.

    `target` is the only target that has these ops, where they are not for all: nothing that runs
    elsewhere may hold them.
    """

    def __init__(self, name: str, target: str = "") -> None:
        announce_dialect(name)
        self.name = name
        self.target = target
        self.ops: dict[str, type[Op]] = {}


OPS: dict[str, "type[Op]"] = {}
"""Every op class of every dialect by its full name, such as `tri.conv`."""


class Op:
    """View an operation through the fields of its class.

    A subclass declares fields (see `fields`), and two static methods with the same signature
    (operands first, attributes as keywords):

    - `infer` takes `Tensor`s and returns the result type(s), or raises `Invalid`;
    - `reference` takes numpy arrays and returns the result(s): the meaning of the op.

    The class name gives the op's name: `LayerNorm` of dialect `tri` is `tri.layer_norm`.

    Three properties tell fusion what an op is. `elementwise`: each element of the result depends
    only on the elements at the same place of the operands, which broadcast. `anchor`: the op is
    a kernel by itself, and elementwise ops that follow may join it. `allows_pad_epilogue`: the last
    op of the kernel may be a `tri.pad` that puts a border of zeros around the result.

    `quantized` says which quantised numbers an op takes: "none", since it computes with numbers;
    "one scale", since it moves elements to places where another scale may hold; or "any", since it
    has `infer` tell what becomes of the axis of scales.
    """

    dialect: ClassVar[Dialect]
    op_name: ClassVar[str] = ""
    fields: ClassVar[Fields]
    pure: ClassVar[bool] = True
    terminator: ClassVar[bool] = False
    elementwise: ClassVar[bool] = False
    anchor: ClassVar[bool] = False
    allows_pad_epilogue: ClassVar[bool] = False
    quantized: ClassVar[str] = "none"

    def __init_subclass__(cls, *, dialect: Dialect | None = None, abstract: bool = False) -> None:
        if dialect is not None:
            cls.dialect = dialect
        cls.fields = Fields.of(cls)
        if abstract or not hasattr(cls, "dialect"):
            return
        mnemonic = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        cls.op_name = f"{cls.dialect.name}.{mnemonic}"
        if cls.op_name in OPS:
            raise TypeError(f"op {cls.op_name} is defined twice")
        OPS[cls.op_name] = cls.dialect.ops[mnemonic] = cls
        _install_accessors(cls)

    def __init__(self, operation: ir.Operation) -> None:
        self.operation = operation

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Op) and self.operation == other.operation

    def __hash__(self) -> int:
        # Not the operation's own hash: that depends on what the operation says at the moment.
        return hash(self.operation.results[0]) if len(self.operation.results) else 0

    @staticmethod
    def infer(*operands: Any, **attributes: Any) -> Any:
        raise NotImplementedError

    @staticmethod
    def plain_type(type_: ir.Type) -> Any:
        """Return what `infer` gets for a value of an MLIR type: in most dialects a `Tensor`."""
        return tensor_of(type_)

    @staticmethod
    def mlir_type(plain: Any) -> ir.Type:
        """Return the MLIR type of what `infer` returns, in the current context."""
        return type_of(plain)

    @staticmethod
    def reference(*operands: Any, **attributes: Any) -> Any:
        raise Unsupported("has no reference, its results cannot be computed here")

    def evaluate(self, groups: Sequence[Any]) -> Any:
        """Compute the results from the arrays of each operand field: for most ops, `reference`.

        Ops that mean what other IR says, which they name, find it here.
        """
        return self.reference(*groups, **self.attributes)

    # -- reading ------------------------------------------------------------------------------

    @property
    def location(self) -> ir.Location:
        return self.operation.location

    @property
    def results(self) -> Sequence[ir.Value]:
        return self.operation.results

    @property
    def attributes(self) -> dict[str, Any]:
        """All attribute fields as Python values, defaults filled in."""
        return {field.name: self.attribute(field) for field in self.fields.attributes}

    def attribute(self, field: AttributeField) -> Any:
        """Read one attribute field; raise Invalid when it is missing or of the wrong type."""
        if field.name not in self.operation.attributes:
            if field.required:
                raise Invalid(f"lacks attribute '{field.name}'")
            return field.default
        attribute = read_attribute(self.operation, field.name)
        try:
            return from_attribute(attribute, field.type)
        except Invalid as error:
            raise Invalid(f"attribute '{field.name}' is {error}") from None

    def set_attributes(self, values: dict[str, Any]) -> None:
        """Write attribute fields, given as Python values."""
        known = {field.name: field for field in self.fields.attributes}
        for name, value in values.items():
            self.operation.attributes[name] = to_attribute(value, known[name].type)

    def operand_groups(self) -> list[Any]:
        """Return the operands field by field: a value, None, or a list of values."""
        return _grouped(self.operation, self.operation.operands, self.fields.operands, "operand")

    def result_groups(self) -> list[Any]:
        return _grouped(self.operation, self.operation.results, self.fields.results, "result")

    # -- deriving -----------------------------------------------------------------------------

    @classmethod
    def results_of(cls, groups: Sequence[Any], attributes: dict[str, Any]) -> tuple[Any, ...]:
        """Return what `infer` does, as a tuple; raise Invalid for quantised types of no use here.

        `groups` are the types of the operands, field by field.
        """
        _check_quantized(cls, groups)
        inferred = cls.infer(*groups, **attributes)
        return cast("tuple[Any, ...]", inferred if isinstance(inferred, tuple) else (inferred,))

    @classmethod
    def build(
        cls: type[Self], *operands: Any, loc: ir.Location | None = None, **given: Any
    ) -> Self:
        """Create the op at the current insertion point, with the result types that it infers.

        `operands` are values, None for an absent optional one, sequences for variadic ones.
        Raises Invalid when `infer` refuses, TypeError when a field is missing or unknown.
        """
        absent = cls.fields.operands[len(operands) :]
        groups: list[Any] = [*operands, *([] if f.arity == "many" else None for f in absent)]
        if len(groups) != len(cls.fields.operands):
            raise TypeError(f"{cls.op_name} takes {len(cls.fields.operands)} operands")
        attributes = _complete(cls, given)
        results = cls.results_of([cls._plain_types(group) for group in groups], attributes)
        return cls.create(groups, [cls.mlir_type(t) for t in results], attributes, loc=loc)

    @classmethod
    def create(
        cls: type[Self],
        groups: Sequence[Any],
        results: Sequence[ir.Type],
        attributes: dict[str, Any],
        *,
        loc: ir.Location | None = None,
    ) -> Self:
        """Create the op with given result types: for ops whose types a region decides.

        Raises TypeError when an attribute is missing or unknown.
        """
        complete = _complete(cls, attributes)
        flat: list[ir.Value] = []
        segments: list[int] = []
        for group in groups:
            values = (
                [] if group is None else [group] if isinstance(group, ir.Value) else list(group)
            )
            flat += values
            segments.append(len(values))
        attrs = {f.name: to_attribute(complete[f.name], f.type) for f in cls.fields.attributes}
        if _needs_segments(cls.fields.operands):
            attrs[SEGMENTS] = ir.DenseI32ArrayAttr.get(segments)
        operation = ir.Operation.create(
            cls.op_name, results, flat, attrs, regions=len(cls.fields.regions), loc=loc
        )
        return cls(operation)

    def verify_regions(self) -> None:
        """Raise Invalid for what is wrong with ops inside together; each of them is well formed."""

    def verify(self) -> None:
        """Raise Invalid unless the fields are well formed and `infer` returns the result types."""
        self.check_attributes()
        groups = [self._plain_types(group) for group in self.operand_groups()]
        want = self.results_of(groups, self.attributes)
        have = tuple(self.plain_type(value.type) for value in self.results)
        if len(want) != len(have):
            raise Invalid(f"has {len(have)} results, must have {len(want)}")
        for index, (declared, expected) in enumerate(zip(have, want, strict=True)):
            if declared != expected:
                which = "result" if len(want) == 1 else f"result {index}"
                raise Invalid(f"{which} is {declared}, inferred {expected}")

    @classmethod
    def _plain_types(cls, group: Any) -> Any:
        if group is None:
            return None
        if isinstance(group, ir.Value):
            return cls.plain_type(group.type)
        return [cls.plain_type(value.type) for value in group]

    def check_attributes(self) -> None:
        """Raise Invalid for an attribute that is not of the type of its field.

        Also for one that no field declares, unless the prefix of a dialect says whose it is.
        """
        known = list(self.attributes)
        for attribute in self.operation.attributes:
            name = attribute if isinstance(attribute, str) else attribute.name
            if name in known or name == SEGMENTS:
                continue
            if "." in name:
                read_attribute(self.operation, name)
                continue
            close = difflib.get_close_matches(name, known, 1)
            hint = f", did you mean '{close[0]}'" if close else ""
            raise Invalid(f"has no attribute '{name}'{hint}")


def view(operation: Any) -> "Op | None":
    """View an operation as its op class; None when its dialect is not one of ours."""
    cls = OPS.get(operation.operation.name)
    return None if cls is None else cls(operation.operation)


def _complete(cls: type[Op], given: dict[str, Any]) -> dict[str, Any]:
    """Fill in the defaults of attributes; a None that a caller passes means the default."""
    known = {field.name: field for field in cls.fields.attributes}
    if unknown := set(given) - set(known):
        raise TypeError(f"{cls.op_name} has no attribute {sorted(unknown)}")
    complete: dict[str, Any] = {}
    for name, field in known.items():
        if name not in given and field.required:
            raise TypeError(f"{cls.op_name} needs attribute '{name}'")
        complete[name] = given.get(name, field.default)
    return complete


def _check_quantized(cls: type[Op], groups: Sequence[Any]) -> None:
    for tensor in _flat(groups):
        if not is_quantized(tensor.dtype) or cls.quantized == "any":
            continue
        if cls.quantized == "none":
            raise Invalid(f"takes no quantised numbers, has {tensor}: dequantise them first")
        if not single_scale(tensor.dtype):
            raise Invalid(f"takes quantised numbers of one scale, has {tensor}")


def _flat(groups: Sequence[Any]) -> list[Any]:
    listed: list[Any] = []
    for group in groups:
        if group is not None:
            listed += cast("list[Any]", group) if isinstance(group, list) else [group]
    return listed


def _needs_segments(groups: Sequence[Group]) -> bool:
    """Say whether operand counts alone cannot tell the fields apart."""
    return sum(group.arity != "one" for group in groups) > 1


def _grouped(
    operation: ir.Operation, values: Sequence[ir.Value], groups: Sequence[Group], what: str
) -> list[Any]:
    if len(values) == len(groups) and all(group.arity == "one" for group in groups):
        return list(values)
    sizes = _segment_sizes(operation, len(values), groups, what)
    grouped: list[Any] = []
    start = 0
    for group, size in zip(groups, sizes, strict=True):
        part = [values[i] for i in range(start, start + size)]
        grouped.append(part if group.arity == "many" else part[0] if part else None)
        start += size
    return grouped


def _segment_sizes(
    operation: ir.Operation, count: int, groups: Sequence[Group], what: str
) -> list[int]:
    if _needs_segments(groups):
        if SEGMENTS not in operation.attributes:
            raise Invalid(f"lacks attribute '{SEGMENTS}'")
        attribute = read_attribute(operation, SEGMENTS)
        if not isinstance(attribute, ir.DenseI32ArrayAttr):
            raise Invalid(f"attribute '{SEGMENTS}' is {attribute}, must be an array<i32>")
        sizes = list(attribute)
        if len(sizes) != len(groups):
            raise Invalid(f"{SEGMENTS} has {len(sizes)} entries, must have {len(groups)}")
    else:
        spare = count - sum(group.arity == "one" for group in groups)
        sizes = [1 if group.arity == "one" else spare for group in groups]
    fits = {"one": (1, 1), "optional": (0, 1), "many": (0, count)}
    least = sum(fits[group.arity][0] for group in groups)
    most = sum(fits[group.arity][1] for group in groups)
    bounds = [fits[group.arity] for group in groups]
    if sum(sizes) != count or any(
        not low <= size <= high for size, (low, high) in zip(sizes, bounds, strict=True)
    ):
        expected = str(least) if least == most else f"{least} to {most}"
        raise Invalid(f"has {count} {what}s, must have {expected}")
    return sizes


def _install_accessors(cls: type[Op]) -> None:
    for index, group in enumerate(cls.fields.operands):
        setattr(cls, group.name, Accessor(lambda self, i=index: self.operand_groups()[i]))
    for index, group in enumerate(cls.fields.results):
        setattr(cls, group.name, Accessor(lambda self, i=index: self.result_groups()[i]))
    for index, name in enumerate(cls.fields.regions):
        setattr(cls, name, Accessor(lambda self, i=index: self.operation.regions[i]))
    for field in cls.fields.attributes:
        accessor = Accessor(lambda self, f=field: self.attribute(f))
        accessor.default = field.default
        setattr(cls, field.name, accessor)
