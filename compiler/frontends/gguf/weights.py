"""Constants of a decoder and what reads them: products, rows of a table, vectors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ....dialects import tri
from ....dialects.core.tensor import Array
from ....dialects.tri.linear_algebra.block_quantized import ROUNDED
from ..core.main_function import MainFunction
from ..core.values import Value, cast, constant, tensor
from ..decoding.experts import expert_product
from .file import GgufTensor
from .hyperparameters import Hyperparameters
from .packed import PackedMatrix, pack
from .tensors import EMBEDDING, HEAD


@dataclass(frozen=True)
class MadeWeights:
    """Keep what was made of tensors, for another function of the same decoder."""

    matrices: dict[str, Array] = field(default_factory=dict[str, Array])
    packed: dict[str, PackedMatrix] = field(default_factory=dict[str, PackedMatrix])


class Weights:
    """Make constants of tensors by name, each where it is first read.

    Numbers of few bits stay so in products and in the table of words; other tensors become f32.
    """

    def __init__(
        self,
        main: MainFunction,
        tensors: Mapping[str, GgufTensor],
        decoder: Hyperparameters,
        made: MadeWeights,
    ) -> None:
        self._main = main
        self._tensors = tensors
        self._decoder = decoder
        self._made = made

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def array(self, name: str) -> Array:
        """Return the elements of a tensor in f32."""
        return self._tensors[name].floats()

    def vector(self, name: str) -> Value:
        """Make a constant in f32."""
        return self._main.constant(name, self.array(name))

    def product(self, x: Value, name: str) -> Value:
        """Multiply […, columns] by a matrix and add its bias, if it has one: […, rows]."""
        stored = self._tensors[f"{name}.weight"]
        order = self._order(name)
        if stored.is_blocked:
            packed = self._packed_matrix(f"{name}.weight", order)
            y = _packed_product(x, self._packed(f"{name}.weight", packed), packed)
        else:
            w = self._main.constant(f"{name}.weight", self._turned(f"{name}.weight", order))
            y = tri.MatMul.build(x, w).y
        return self._with_bias(y, name, order)

    def expert_product(self, x: Value, name: str, index: Value) -> Value:
        """Multiply each row, [M, columns], by the matrix of its expert: [M, rows]."""
        if self._tensors[f"{name}.weight"].is_blocked:
            packed = self._packed_matrix(f"{name}.weight")
            numbers, scales, zeros = self._packed(f"{name}.weight", packed)
            bits, block = packed.bits, packed.block
            return tri.IndexedBlockMatMul.build(
                x, numbers, scales, index, zeros, bits=bits, block=block, activations=ROUNDED
            ).y
        w = self._main.constant(f"{name}.weight", self._turned(f"{name}.weight"))
        return expert_product(x, w, None, index)

    def logits(self, x: Value) -> Value:
        """Multiply by the matrix of the head, which may be the table of words."""
        if HEAD in self:
            return self.product(x, HEAD.removesuffix(".weight"))
        if self._tensors[EMBEDDING].is_blocked:
            y = _packed_product(x, self._packed_table, self._packed_words)
        else:
            turned = tri.Transpose.build(cast(self._table, "f32"), permutation=(1, 0)).y
            y = tri.MatMul.build(x, turned).y
        return self._with_bias(y, "output", None)

    def words(self, indices: Value) -> Value:
        """Take rows of the table of words in f32: [batch, length, hidden]."""
        if not self._tensors[EMBEDDING].is_blocked:
            return cast(tri.Gather.build(self._table, indices, axis=0).y, "f32")
        rows = [
            None if each is None else tri.Gather.build(each, indices, axis=0).y
            for each in self._packed_table
        ]
        numbers, scales, zeros = rows
        assert numbers is not None
        assert scales is not None
        packed = self._packed_words
        wide = cast(tri.build_unpacked(numbers, packed.bits), "f32")
        zero = constant(np.array(1 << packed.bits - 1, np.float32))
        centered = tri.Sub.build(wide, zero if zeros is None else _column(zeros)).y
        scaled = tri.Mul.build(centered, _column(scales)).y
        batch, length = tensor(indices).shape
        return tri.Reshape.build(scaled, shape=(batch, length, self._decoder.hidden)).y

    # -- parts ------------------------------------------------------------------------------------

    def _turned(self, name: str, order: Array | None = None) -> Array:
        """Return matrices in f32, transposed; their rows in an order, if one is given."""
        if name not in self._made.matrices:
            matrix = self._tensors[name].floats()
            matrix = matrix if order is None else matrix[order]
            self._made.matrices[name] = np.ascontiguousarray(matrix.swapaxes(-1, -2))
        return self._made.matrices[name]

    def _packed_matrix(self, name: str, order: Array | None = None) -> PackedMatrix:
        if name not in self._made.packed:
            blocks = self._tensors[name].blocks()
            self._made.packed[name] = pack(blocks if order is None else blocks.rows(order))
        return self._made.packed[name]

    def _order(self, name: str) -> Array | None:
        """Return the order of rows that puts the first of each pair of a head before the second."""
        decoder = self._decoder
        heads = {"attn_q": decoder.heads, "attn_k": decoder.shared}.get(name.rpartition(".")[2])
        if heads is None or not decoder.architecture.neighbours:
            return None
        pairs = np.arange(decoder.rotated).reshape(-1, 2)
        rest = np.arange(decoder.rotated, decoder.head_size)
        head = np.concatenate([pairs[:, 0], pairs[:, 1], rest])
        return (np.arange(heads)[:, None] * decoder.head_size + head).reshape(-1)

    def _with_bias(self, y: Value, name: str, order: Array | None) -> Value:
        if f"{name}.bias" not in self:
            return y
        bias = self.array(f"{name}.bias")
        bias = bias if order is None else bias[order]
        return tri.Add.build(y, self._main.constant(f"{name}.bias", bias)).y

    @cached_property
    def _table(self) -> Value:
        """The table of words as it is stored, where that is f16, else in f32."""
        stored = self._tensors[EMBEDDING]
        array = stored.halves() if stored.type_name == "F16" else stored.floats()
        return self._main.constant(EMBEDDING, array)

    @cached_property
    def _packed_words(self) -> PackedMatrix:
        return self._packed_matrix(EMBEDDING)

    @cached_property
    def _packed_table(self) -> tuple[Value, Value, Value | None]:
        return self._packed(EMBEDDING, self._packed_words)

    def _packed(self, name: str, packed: PackedMatrix) -> tuple[Value, Value, Value | None]:
        zeros = packed.zero_points
        return (
            self._main.constant(name, packed.numbers),
            self._main.constant(f"{name}.scales", packed.scales),
            None if zeros is None else self._main.constant(f"{name}.zero_points", zeros),
        )


def _packed_product(
    x: Value, operands: tuple[Value, Value, Value | None], packed: PackedMatrix
) -> Value:
    """Round activations as llama.cpp does, which has no product of few bits and floats."""
    bits, block = packed.bits, packed.block
    return tri.BlockQuantizedMatMul.build(
        x, *operands, bits=bits, block=block, activations=ROUNDED
    ).y


def _column(value: Value) -> Value:
    return tri.Reshape.build(value, shape=(*tensor(value).shape, 1)).y
