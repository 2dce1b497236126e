"""Types of the part of the MLIR bindings that Trivium uses; the wheel ships none."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, BinaryIO, Literal

class ir:
    class Context:
        current: "ir.Context | None"
        def __init__(self, load_on_create_dialects: Sequence[str] | None = ...) -> None: ...
        def __enter__(self) -> "ir.Context": ...
        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            trace: TracebackType | None,
        ) -> None: ...
        def enable_multithreading(self, enable: bool) -> None: ...
        def load_all_available_dialects(self) -> None: ...
        def attach_diagnostic_handler(
            self, handler: Callable[["ir.DiagnosticInfo"], bool]
        ) -> Any: ...
        allow_unregistered_dialects: bool
        def is_registered_operation(self, operation_name: str) -> bool: ...
        emit_error_diagnostics: bool

    class Location:
        context: "ir.Context"
        attr: "ir.Attribute"
        @staticmethod
        def from_attr(
            attribute: "ir.Attribute", context: "ir.Context | None" = ...
        ) -> "ir.Location": ...
        def __enter__(self) -> "ir.Location": ...
        def __exit__(self, *_: object) -> None: ...
        @staticmethod
        def unknown(context: "ir.Context | None" = ...) -> "ir.Location": ...
        @staticmethod
        def name(
            name: str,
            childLoc: "ir.Location | None" = ...,
            context: "ir.Context | None" = ...,
        ) -> "ir.Location": ...
        @staticmethod
        def fused(
            locations: Sequence["ir.Location"],
            metadata: "ir.Attribute | None" = ...,
            context: "ir.Context | None" = ...,
        ) -> "ir.Location": ...
        def emit_error(self, message: str) -> None: ...

    class NameLoc(Location):
        name_str: str
        child_loc: "ir.Location"

    class FusedLoc(Location):
        locations: Sequence["ir.Location"]

    class FileLineColLoc(Location):
        start_line: int
        start_col: int
        filename: str

    class CallSiteLoc(Location):
        callee: "ir.Location"

    class UnknownLoc(Location): ...

    class Attribute:
        type: "ir.Type"
        value: Any
        context: "ir.Context"
        @staticmethod
        def parse(text: str, context: "ir.Context | None" = ...) -> "ir.Attribute": ...
        def __getitem__(self, index: int) -> Any: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Any]: ...

    class BoolAttr(Attribute):
        @staticmethod
        def get(value: bool) -> "ir.BoolAttr": ...

    class IntegerAttr(Attribute):
        @staticmethod
        def get(type: "ir.Type", value: int) -> "ir.IntegerAttr": ...

    class FloatAttr(Attribute):
        @staticmethod
        def get(type: "ir.Type", value: float) -> "ir.FloatAttr": ...
        @staticmethod
        def get_f64(value: float) -> "ir.FloatAttr": ...

    class DictAttr(Attribute):
        def __init__(self, cast_from_attr: "ir.Attribute") -> None: ...
        @staticmethod
        def get(value: Mapping[str, "ir.Attribute"]) -> "ir.DictAttr": ...
        def __contains__(self, name: str) -> bool: ...
        def __getitem__(self, name: str) -> Any: ...  # pyright: ignore[reportIncompatibleMethodOverride]

    class StringAttr(Attribute):
        @staticmethod
        def get(value: str) -> "ir.StringAttr": ...
        @staticmethod
        def get_typed(type: "ir.Type", value: str) -> "ir.StringAttr": ...

    class TypeAttr(Attribute):
        @staticmethod
        def get(value: "ir.Type") -> "ir.TypeAttr": ...

    class UnitAttr(Attribute):
        @staticmethod
        def get() -> "ir.UnitAttr": ...

    class ArrayAttr(Attribute):
        @staticmethod
        def get(values: Sequence["ir.Attribute"]) -> "ir.ArrayAttr": ...

    class DenseI64ArrayAttr(Attribute):
        @staticmethod
        def get(values: Sequence[int]) -> "ir.DenseI64ArrayAttr": ...

    class DenseI32ArrayAttr(Attribute):
        @staticmethod
        def get(values: Sequence[int]) -> "ir.DenseI32ArrayAttr": ...

    class DenseF64ArrayAttr(Attribute):
        @staticmethod
        def get(values: Sequence[float]) -> "ir.DenseF64ArrayAttr": ...

    class DenseElementsAttr(Attribute):
        @staticmethod
        def get(
            array: Any, type: "ir.Type | None" = ..., shape: Sequence[int] | None = ...
        ) -> "ir.DenseElementsAttr": ...
        @staticmethod
        def get_splat(type: "ir.Type", value: "ir.Attribute") -> "ir.DenseElementsAttr": ...

    class Type:
        context: "ir.Context"
        @staticmethod
        def parse(text: str, context: "ir.Context | None" = ...) -> "ir.Type": ...

    class IntegerType(Type):
        @staticmethod
        def get_signless(width: int, context: "ir.Context | None" = ...) -> "ir.IntegerType": ...

    class RankedTensorType(Type):
        rank: int
        shape: Sequence[int]
        element_type: "ir.Type"
        has_static_shape: bool
        def is_dynamic_dim(self, dim: int) -> bool: ...
        encoding: "ir.Attribute | None"
        def __init__(self, cast_from_type: "ir.Type") -> None: ...
        @staticmethod
        def get(
            shape: Sequence[int],
            element_type: "ir.Type",
            encoding: "ir.Attribute | None" = ...,
            loc: "ir.Location | None" = ...,
        ) -> "ir.RankedTensorType": ...
        @staticmethod
        def isinstance(other: "ir.Type") -> bool: ...

    class VectorType(Type):
        shape: Sequence[int]
        element_type: "ir.Type"
        @staticmethod
        def get(shape: Sequence[int], element_type: "ir.Type") -> "ir.VectorType": ...

    class MemRefType(Type):
        shape: Sequence[int]
        element_type: "ir.Type"
        has_static_shape: bool
        memory_space: "ir.Attribute | None"
        @staticmethod
        def get(
            shape: Sequence[int],
            element_type: "ir.Type",
            layout: "ir.Attribute | None" = ...,
            memory_space: "ir.Attribute | None" = ...,
            loc: "ir.Location | None" = ...,
        ) -> "ir.MemRefType": ...
        def get_strides_and_offset(self) -> tuple[Sequence[int], int]: ...

    class StridedLayoutAttr(Attribute):
        @staticmethod
        def get(offset: int, strides: Sequence[int]) -> "ir.StridedLayoutAttr": ...

    class SymbolTable:
        def __init__(self, operation: "ir.Operation") -> None: ...
        def __contains__(self, name: str) -> bool: ...
        def __getitem__(self, name: str) -> "ir.Operation": ...

    class ShapedType(Type):
        @staticmethod
        def get_dynamic_size() -> int: ...
        @staticmethod
        def get_dynamic_stride_or_offset() -> int: ...

    class IndexType(Type):
        @staticmethod
        def get() -> "ir.IndexType": ...

    class FunctionType(Type):
        inputs: Sequence["ir.Type"]
        results: Sequence["ir.Type"]
        @staticmethod
        def get(inputs: Sequence["ir.Type"], results: Sequence["ir.Type"]) -> "ir.FunctionType": ...

    class OpOperand:
        owner: Any
        operand_number: int

    class Value:
        type: "ir.Type"
        owner: Any
        uses: Iterable["ir.OpOperand"]
        location: "ir.Location"
        def replace_all_uses_with(self, other: "ir.Value") -> None: ...
        def set_type(self, type: "ir.Type") -> None: ...

    class OpResult(Value):
        result_number: int

    class BlockArgument(Value):
        arg_number: int

    class _Attributes:
        def __contains__(self, key: str) -> bool: ...
        def __getitem__(self, key: str) -> "ir.Attribute": ...
        def __setitem__(self, key: str, value: "ir.Attribute") -> None: ...
        def __delitem__(self, key: str) -> None: ...
        def __iter__(self) -> Iterator[Any]: ...
        def __len__(self) -> int: ...

    class _Operands(Sequence["ir.Value"]):
        def __setitem__(self, index: int, value: "ir.Value") -> None: ...

    class Operation:
        name: str
        operation: "ir.Operation"
        location: "ir.Location"
        attributes: "ir._Attributes"
        operands: "ir._Operands"
        results: Sequence["ir.OpResult"]
        regions: Sequence["ir.Region"]
        parent: "ir.Operation | None"
        block: "ir.Block"
        context: "ir.Context"
        @staticmethod
        def create(
            name: str,
            results: Sequence["ir.Type"] | None = ...,
            operands: Sequence["ir.Value"] | None = ...,
            attributes: dict[str, "ir.Attribute"] | None = ...,
            regions: int = ...,
            loc: "ir.Location | None" = ...,
            ip: "ir.InsertionPoint | Literal[False] | None" = ...,
        ) -> "ir.Operation": ...
        def erase(self) -> None: ...
        def clone(self, ip: "ir.InsertionPoint | None" = ...) -> "ir.Operation": ...
        def move_before(self, other: "ir.Operation") -> None: ...
        def move_after(self, other: "ir.Operation") -> None: ...
        def is_before_in_block(self, other: "ir.Operation") -> bool: ...
        def verify(self) -> bool: ...
        def get_asm(self, **options: Any) -> str: ...
        def walk(self, callback: Callable[["ir.Operation"], Any]) -> None: ...
        def write_bytecode(self, file: BinaryIO) -> None: ...

    class Block:
        operations: Sequence["ir.Operation"]
        arguments: Sequence["ir.BlockArgument"]
        owner: Any
        def add_argument(self, type: "ir.Type", loc: "ir.Location") -> "ir.BlockArgument": ...
        def append_to(self, region: "ir.Region") -> None: ...
        def erase_argument(self, index: int) -> None: ...
        @staticmethod
        def create_at_start(
            parent: "ir.Region",
            arg_types: Sequence["ir.Type"] = ...,
            arg_locs: Sequence["ir.Location"] | None = ...,
        ) -> "ir.Block": ...

    class Region:
        blocks: Sequence["ir.Block"]

    class InsertionPoint:
        current: "ir.InsertionPoint"
        block: "ir.Block"
        def __init__(self, before: "ir.Operation | ir.Block") -> None: ...
        @staticmethod
        def after(operation: "ir.Operation") -> "ir.InsertionPoint": ...
        @staticmethod
        def at_block_begin(block: "ir.Block") -> "ir.InsertionPoint": ...
        @staticmethod
        def at_block_terminator(block: "ir.Block") -> "ir.InsertionPoint": ...
        def __enter__(self) -> "ir.InsertionPoint": ...
        def __exit__(self, *_: object) -> None: ...

    class Module:
        operation: "ir.Operation"
        body: "ir.Block"
        context: "ir.Context"
        @staticmethod
        def parse(asm: str | bytes, context: "ir.Context | None" = ...) -> "ir.Module": ...
        @staticmethod
        def parseFile(path: str, context: "ir.Context | None" = ...) -> "ir.Module": ...
        @staticmethod
        def create(loc: "ir.Location | None" = ...) -> "ir.Module": ...

    class DiagnosticInfo:
        severity: "ir.DiagnosticSeverity"
        location: "ir.Location"
        message: str
        notes: Sequence["ir.DiagnosticInfo"]

    class MLIRError(Exception):
        error_diagnostics: Sequence["ir.DiagnosticInfo"]

    class DiagnosticSeverity:
        ERROR: "ir.DiagnosticSeverity"
        WARNING: "ir.DiagnosticSeverity"
        NOTE: "ir.DiagnosticSeverity"
        REMARK: "ir.DiagnosticSeverity"
        name: str

    IsTerminatorTrait: Any
    IsIsolatedFromAboveTrait: Any

class PassManager:
    def __init__(self, anchor: str = ..., context: ir.Context | None = ...) -> None: ...
    @staticmethod
    def parse(pipeline: str, context: ir.Context | None = ...) -> "PassManager": ...
    def add(self, entry: Any, name: str = ..., argument: str = ..., summary: str = ...) -> None: ...
    def run(self, operation: ir.Operation) -> None: ...
    def enable_verifier(self, enable: bool) -> None: ...
    def enable_timing(self) -> None: ...
    def enable_ir_printing(self, **options: Any) -> None: ...

def upstream(name: str) -> Any: ...
def has_dialect(name: str) -> bool: ...
def announce_dialect(name: str) -> None: ...
def execution_engine() -> Any: ...
def new_context() -> ir.Context: ...
def code_context() -> ir.Context: ...
def address(operation: ir.Operation) -> int: ...
def version() -> str: ...
