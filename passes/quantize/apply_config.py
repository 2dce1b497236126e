"""Quantise a model by a config, after all its names were found, and write the config of a model."""

from collections.abc import Iterator

from ...dialects import tri
from ...dialects.core.errors import CompileError, Diagnostic, suggestion
from ...dialects.core.location import node_names
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module, ops
from ...dialects.core.op import Op, view
from ...dialects.core.quantized import QuantizedType
from ..rewriting import Rewriter
from .quant_config import DATA_TYPES, QuantConfig
from .quantizable import (
    PRODUCTS,
    data_operands,
    deciding,
    is_moved,
    is_supported,
    names_of,
    quantizable,
)
from .quantize import LARGEST_WEIGHT, channels_axis, quantize_by
from .scale_table import Scale, ScaleTable


def quantize_by_config(module: Module, config: QuantConfig, per_tensor: bool = False) -> ScaleTable:
    """Quantise a simplified model as a config says, and return the scales of its values.

    Raises CompileError that lists all names that the model does not have, and all numbers and data
    types that do not fit what they name.
    """
    model = _Model(module)
    faults = [Diagnostic("", fault) for fault in _faults(model, config)]
    if faults:
        raise CompileError(faults)
    values = {name: scale for name, scale in config.tensors.items() if name in model.values}
    weights: dict[str, float | tuple[float, ...]] = {**config.channels}
    weights |= {n: s.kind.scales[0] for n, s in config.tensors.items() if n not in values}
    table = ScaleTable(values, config.method)
    floats = [op for op in model.supported if not _is_integer(op, config)]
    quantize_by(module, table, per_tensor, weights=weights, floats=floats)
    return table


def quantize_by_table(module: Module, table: ScaleTable, per_tensor: bool) -> QuantConfig:
    """Quantise a simplified model by a table, and return the config that does the same.

    Weights whose scales differ from product to product are left out: they are found again.
    """
    model = _Model(module)
    quantize_by(module, table, per_tensor)
    found: dict[str, set[tuple[float, ...]]] = {}
    kinds: dict[str, QuantizedType] = {}
    nodes: dict[str, str] = {}
    for op, name in model.weights_of:
        read = [kind for value in data_operands(op) if (kind := _rounded_to(value)) is not None]
        if not read:
            continue
        wide = any(kind.storage in ("i16", "ui16") for kind in read)
        nodes |= dict.fromkeys(node_names(op.location), "INT16" if wide else "INT8")
        if name and (kind := _rounded_to(op.operation.operands[1])) is not None:
            found.setdefault(name, set()).add(kind.scales)
            kinds[name] = kind
    one = {name: kinds[name] for name, scales in found.items() if len(scales) == 1}
    channels = {name: kind.scales for name, kind in one.items() if kind.axis is not None}
    whole = {name: _weights_scale(kind) for name, kind in one.items() if kind.axis is None}
    return QuantConfig({**table.values, **whole}, channels, nodes, table.method)


def _weights_scale(kind: QuantizedType) -> Scale:
    return Scale(kind, -LARGEST_WEIGHT * kind.scales[0], LARGEST_WEIGHT * kind.scales[0])


def _rounded_to(value: ir.Value) -> QuantizedType | None:
    maker = view(value.owner) if isinstance(value, ir.OpResult) else None
    return QuantizedType.parse(maker.of) if isinstance(maker, tri.Dequantize) else None


class _Model:
    """Know what a config may name, before anything is rounded."""

    def __init__(self, module: Module) -> None:
        self._constants = Rewriter(module).constants
        self.names = names_of(module)
        self.supported = [op for op in ops(module.operation) if is_supported(op)]
        self.values = {self.names[v]: v for v in quantizable(module) if v in self.names}
        self.nodes = {name: op for op in ops(module.operation) for name in node_names(op.location)}
        self.nodes |= {name: op for op in self.supported for name in node_names(op.location)}
        self.weights_of = [(op, self._constant_weights(op)) for op in self.supported]
        self.weights = {name: op for op, name in self.weights_of if name}

    def _constant_weights(self, op: Op) -> str:
        if not isinstance(op, PRODUCTS) or self._constants(op.operation.operands[1]) is None:
            return ""
        return self.names.get(op.operation.operands[1], "")

    def channels(self, name: str) -> int:
        """Return how many scales weights may have."""
        op = self.weights[name]
        array = self._constants(op.operation.operands[1])
        assert array is not None
        axis = channels_axis(op, array)
        return 1 if axis is None else array.shape[axis]

    def read(self, op: Op) -> list[tuple[str, ir.Value]]:
        """Return the values of which an op reads what is rounded, by name."""
        read = [v for v in data_operands(op) if self._constants(v) is None]
        return [(self.names.get(deciding(v), ""), deciding(v)) for v in read]


def _is_integer(op: Op, config: QuantConfig) -> bool:
    named = [config.nodes.get(name, "FLOAT32") for name in node_names(op.location)]
    return not config.nodes or any(data_type != "FLOAT32" for data_type in named)


def _faults(model: _Model, config: QuantConfig) -> Iterator[str]:
    """Report what does not fit, of tensors and then of nodes."""
    tensors = [*model.values, *model.weights]
    for name in [*config.tensors, *config.channels]:
        if name not in tensors:
            hint = suggestion(name, tensors)
            yield f"no value or weights to be quantised are called '{name}'{hint}"
    for name, scales in config.channels.items():
        if name in model.values:
            yield f"value '{name}' is per channel, must have one scale"
        elif name in model.weights and len(scales) != (wanted := model.channels(name)):
            yield f"weights '{name}' have {len(scales)} scales, must have {wanted}"
    for name, scale in config.tensors.items():
        if name in model.weights and (scale.kind.storage, *scale.kind.zero_points) != ("i8", 0):
            yield f"weights '{name}' are {scale.kind}, must be i8 with zero point 0"
        if (value := model.values.get(name)) is not None and is_moved(value):
            source = model.names.get(deciding(value), "")
            if source in config.tensors and config.tensors[source].kind != scale.kind:
                yield f"value '{name}' is moved from '{source}', must have the same numbers"
    for name, data_type in config.nodes.items():
        yield from _node_faults(model, config, name, DATA_TYPES[data_type])


def _node_faults(model: _Model, config: QuantConfig, name: str, bits: int) -> Iterator[str]:
    op = model.nodes.get(name)
    if op is None:
        yield f"there is no node '{name}'{suggestion(name, model.nodes)}"
    elif bits and not is_supported(op):
        yield f"node '{name}' is {op.op_name}, which computes in floats: must be FLOAT32"
    elif bits:
        for value, _ in model.read(op):
            scale = config.tensors.get(value)
            if scale is None:
                yield f"node '{name}' is INT{bits}, but reads '{value}' without quant_info"
            elif not scale.kind.storage.endswith(str(bits)):
                yield f"node '{name}' is INT{bits}, but reads '{value}' of {scale.kind}"
