"""`Op`, the base of every op of every dialect: an op is fields + `infer` + `reference`.

The verifier, the builder, constant folding, the interpreter and the property tests are derived
from these three. Op classes are plain Python: they infer and compute without an MLIR context.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, cast

from .attributes import from_attribute, read_attribute, tensor_of, to_attribute, type_of
from .errors import Invalid, Unsupported, suggestion
from .fields import Accessor, AttributeField, Fields
from .mlir import address, announce_dialect, ir
from .operand_segments import SEGMENTS, grouped_values
from .quantized import is_quantized, single_scale
from .sizes.atoms import Size
from .sizes.binding import replaced, symbols_in

Self = TypeVar("Self", bound="Op")

NO_SIZES: Mapping[str, int] = MappingProxyType({})


class Dialect:
    """Name a family of ops; every `Op` subclass with `dialect=` registers here.

    `target` is the only target that has these ops; empty for ops of all targets. IR for another
    target must not contain them.
    """

    def __init__(self, name: str, target: str = "") -> None:
        announce_dialect(name)
        self.name = name
        self.target = target
        self.ops: dict[str, type[Op]] = {}


OPS: dict[str, "type[Op]"] = {}
"""Every op class of every dialect by its full name, such as `tri.conv`."""


class Op:
    """View an operation through the fields of its class, or hold its attributes alone.

    `Conv(operation)` views an operation. `Conv(strides=(1, 1), …)` has no operation, and no fields
    but attributes: the values given, and the defaults of the others. Both are read-only.

    A subclass declares fields (see `fields`), and two methods that take the operands, field by
    field, and read attributes from `self`:

    - `infer` takes `Tensor`s and returns the result type(s), or raises `Invalid`;
    - `reference` takes numpy arrays and returns the result(s): the meaning of the op.

    Neither may read operands, results or regions from `self`: both are called without IR, too.

    The class name gives the op's name: `LayerNorm` of dialect `tri` is `tri.layer_norm`.

    Three properties are for fusion. `elementwise`: each element of the result depends
    only on the elements at the same place of the operands, which broadcast. `anchor`: the op is
    a kernel by itself, and elementwise ops that follow may join it. `allows_pad_epilogue`: the last
    op of the kernel may be a `tri.pad` that puts a border of one number around the result.

    `quantized` is the kind of quantised operands that an op accepts: "none", since it computes with
    numbers; "one scale", since it moves elements across the axis of scales; or "any", since its
    `infer` returns the scales of the result.

    `memory_space` is the memory in which an op between kernels reads its operands and writes its
    results; None for ops that targets lower. `updated` is the name of the operand that an in-place
    form writes to: its result is stored where that operand is.
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
    memory_space: ClassVar[str | None] = None
    updated: ClassVar[str] = ""

    _given: dict[str, Any] | None = None

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

    def __init__(self, operation: ir.Operation | None = None, /, **attributes: Any) -> None:
        if operation is not None:
            self.operation = operation
        else:
            self._given = _complete(type(self), attributes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Op) and self.operation == other.operation

    def __hash__(self) -> int:
        # Not the operation's own hash, which changes with its operands and attributes.
        results = self.operation.results
        return hash(results[0]) if len(results) else address(self.operation)

    def infer(self, *operands: Any, **named: Any) -> Any:
        raise NotImplementedError

    @staticmethod
    def plain_type(type_: ir.Type) -> Any:
        """Return the argument of `infer` for an MLIR type: in most dialects a `Tensor`."""
        return tensor_of(type_)

    @staticmethod
    def mlir_type(plain: Any) -> ir.Type:
        """Return the MLIR type of a result of `infer`, in the current context."""
        return type_of(plain)

    def reference(self, *operands: Any, **named: Any) -> Any:
        raise Unsupported("has no reference, its results cannot be computed here")

    def evaluate(self, groups: Sequence[Any], sizes: Mapping[str, int] = NO_SIZES) -> Any:
        """Compute the results from the arrays of each operand field: for most ops, `reference`.

        `sizes` are those of symbols by name. Ops whose meaning is other IR, such as a kernel that
        they name, run that IR here. Raises Undecided for a symbol without a size.
        """
        return self.without_operation().at(sizes).reference(*groups)

    @property
    def symbols(self) -> frozenset[str]:
        """Return the names of the symbols on which attributes depend: mostly none."""
        values = (self.attribute(field) for field in self.fields.attributes)
        return frozenset(name for value in values for name in symbols_in(value))

    def at(self: Self, sizes: Mapping[str, Size]) -> Self:
        """Return an op without an operation with sizes in place of symbols in its attributes."""
        if not self.symbols:
            return self
        return type(self)(
            **{name: replaced(value, sizes) for name, value in self.attributes.items()}
        )

    def run_bodies(
        self,
        groups: Sequence[Any],
        run: Callable[[int, Sequence[Any]], Sequence[Any]],
        sizes: Mapping[str, int] = NO_SIZES,
    ) -> Sequence[Any]:
        """Compute the results of an op with regions; `run` computes those of a region's block.

        `sizes` are those of symbols by name. Unless an op says otherwise, it runs its only region
        on its only operand field.
        """
        return run(0, groups[0])

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
        if self._given is not None:
            return self._given[field.name]
        attribute = read_attribute(self.operation, field.name)
        if attribute is None:
            if field.required:
                raise Invalid(f"lacks attribute '{field.name}'")
            return field.default
        try:
            return from_attribute(attribute, field.type)
        except Invalid as error:
            raise Invalid(f"attribute '{field.name}' is {error}") from None

    def without_operation(self: Self) -> Self:
        """Return the op with its attributes alone, which are read once; raise as `attribute`."""
        copy = object.__new__(type(self))
        copy._given = self.attributes
        return copy

    def set_attributes(self, values: dict[str, Any]) -> None:
        """Write attribute fields, given as Python values."""
        known = {field.name: field for field in self.fields.attributes}
        for name, value in values.items():
            self.operation.attributes[name] = to_attribute(value, known[name].type)

    def operand_groups(self) -> list[Any]:
        """Return the operands field by field: a value, None, or a list of values."""
        return grouped_values(
            self.operation, self.operation.operands, self.fields.operands, "operand"
        )

    def result_groups(self) -> list[Any]:
        return grouped_values(self.operation, self.operation.results, self.fields.results, "result")

    # -- deriving -----------------------------------------------------------------------------

    def infer_results(self, groups: Sequence[Any]) -> tuple[Any, ...]:
        """Return the types that `infer` returns, as a tuple.

        `groups` are the types of the operands, field by field. Raises Invalid for quantised types
        that the op does not accept.
        """
        _check_quantized(type(self), groups)
        inferred = self.infer(*groups)
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
        op = cls(**given)
        results = op.infer_results([cls._plain_types(group) for group in groups])
        return cls.create(groups, [cls.mlir_type(t) for t in results], op.attributes, loc=loc)

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
        if cls.fields.operands.needs_segments:
            attrs[SEGMENTS] = ir.DenseI32ArrayAttr.get(segments)
        operation = ir.Operation.create(
            cls.op_name, results, flat, attrs, regions=len(cls.fields.regions), loc=loc
        )
        return cls(operation)

    def verify_regions(self) -> None:
        """Raise Invalid unless the nested ops, each of them valid, are valid together."""

    def verify(self) -> None:
        """Raise Invalid unless the fields are well formed and `infer` returns the result types."""
        op = self.check_attributes()
        want = op.infer_results([self._plain_types(group) for group in self.operand_groups()])
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

    def check_attributes(self: Self) -> Self:
        """Return the op with its attributes alone; raise Invalid where one has the wrong type.

        Also raise for an attribute that no field declares, unless its name has a dialect's prefix.
        """
        op = self.without_operation()
        known = list(op.attributes)
        for attribute in self.operation.attributes:
            name = attribute if isinstance(attribute, str) else attribute.name
            if name in known or name == SEGMENTS:
                continue
            if "." in name:
                read_attribute(self.operation, name)
                continue
            hint = suggestion(name, known)
            raise Invalid(f"has no attribute '{name}'{hint}")
        return op


def view(operation: Any) -> "Op | None":
    """View an operation as its op class; None when its dialect is not one of ours."""
    own: ir.Operation = operation.operation
    cls = OPS.get(own.name)
    return None if cls is None else cls(own)


def _complete(cls: type[Op], given: dict[str, Any]) -> dict[str, Any]:
    """Fill in the defaults of attributes; raise TypeError where one is missing or unknown."""
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
