"""Cut convolutions into tiles: of rows and columns, of filters, and of channels summed in turns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....dialects import dla
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Unsupported
from ....dialects.core.tensor import Array
from ....dialects.dla.types import ACCUMULATOR, Buffer
from ....dialects.dla.window_tiles import TABLE_BYTES
from ..layout.memory_layout import Layout
from ..select.windows import kernel_fields
from .conv_plan import ConvPlan, ConvShape, plan_conv
from .halo import Span, spans
from .tiler import Reader, Tiler, Weights, Writer, parts, tiles

_I32 = np.iinfo(np.int32)


@tiles(dla.Conv)
def tile_conv(op: dla.Conv, tiler: Tiler) -> None:
    """Write the tiles of a convolution by the cheapest plan."""
    shape, reader, writer = shape_of(op, tiler)
    plan = plan_conv(shape, tiler.layout, tiler.room, tiler.weight_budget)
    _Tiles(op, tiler, shape, plan, reader, writer).write()


def shape_of(op: dla.Conv, tiler: Tiler) -> tuple[ConvShape, Reader, Writer]:
    """Return the sizes of a convolution, and what finds windows of its image and its result."""
    x, y = tensor_of(op.x.type).shape, tensor_of(op.y.type).shape
    kernel = tensor_of(op.w.type).shape
    reader, writer = tiler.reader(op.x), tiler.writer(op.y)
    shape = ConvShape(
        x[0],
        (x[1], x[2]),
        x[3],
        (y[1], y[2]),
        y[3],
        (kernel[0], kernel[1]),
        (op.strides[0], op.strides[1]),
        (op.dilations[0], op.dilations[1]),
        op.mode == "depthwise",
        reader.loads,
        writer.stores,
    )
    return shape, reader, writer


@dataclass
class _Tiles:
    op: dla.Conv
    tiler: Tiler
    shape: ConvShape
    plan: ConvPlan
    reader: Reader
    writer: Writer

    def write(self) -> None:
        weights, tables = self._constants()
        rows = spans(self.op, 0, self.plan.rows)
        columns = spans(self.op, 1, self.plan.columns)
        filters = parts(self.shape.filters, self.plan.filters)
        places = [(n, r, c) for n in range(self.shape.images) for r in rows for c in columns]
        if self.plan.filters_outside:
            order = [(place, k) for k in range(len(filters)) for place in places]
        else:
            order = [(place, k) for place in places for k in range(len(filters))]
        for (image, row, column), k in order:
            self._tile(image, row, column, filters[k], k, weights, tables)

    def _tile(
        self,
        image: int,
        row: Span,
        column: Span,
        filters: tuple[int, int],
        number: int,
        weights: Weights,
        tables: Weights | None,
    ) -> None:
        """Write one tile of the result: its window is loaded, summed over channels, stored."""
        layout = self.tiler.layout
        made = (row.out, column.out, filters)
        whole = filters if self.shape.depthwise else (0, self.shape.channels)
        bring = self.reader.band if self.plan.whole else self.reader.window
        source = bring(image, (row.taken, column.taken, whole))
        target = self.writer.window(image, made)
        count = filters[1] - filters[0]
        padded = layout.description.padded(count)
        sizes = (1, row.out[1] - row.out[0], column.out[1] - column.out[0], padded)
        depths = [whole] if self.shape.depthwise else parts(whole[1], self.plan.channels)
        sums = self.tiler.alloc(Buffer(sizes, "i32", ACCUMULATOR))
        for index, channels in enumerate(depths):
            chunk = weights.chunk(number * len(depths) + index)
            table = chunk if tables is None else tables.chunk(number)
            first = channels[0] - whole[0]
            self.tiler.put(
                dla.ConvTile,
                source.buffer,
                target.buffer,
                chunk,
                table,
                sums,
                source_at=(*source.at[:3], source.at[3] + first),
                destination_at=target.at,
                table_at=0 if tables else self._kernel_bytes(count, channels),
                begin=int(index == 0),
                finish=int(index == len(depths) - 1),
                channels=channels[1] - channels[0],
                filters=count,
                **row.fields("rows", "top"),
                **column.fields("columns", "left"),
                **self._common(),
            )
        self.writer.finish(target, image, made)

    def _common(self) -> dict[str, object]:
        op, shape = self.op, self.shape
        names = ("mode", "source_zero", "destination_zero", "low", "high", "rounding")
        moved = kernel_fields(shape.kernel, shape.strides, shape.dilations)
        return {**{name: getattr(op, name) for name in names}, **moved}

    def _kernel_bytes(self, filters: int, channels: tuple[int, int]) -> int:
        layout = self.tiler.layout
        depth = 1 if self.shape.depthwise else channels[1] - channels[0]
        return layout.aligned(self.shape.taps * depth * layout.description.padded(filters))

    def _constants(self) -> tuple[Weights, Weights | None]:
        """Pack weights and tables: together where channels are summed at once, else apart."""
        op, layout, plan = self.op, self.tiler.layout, self.plan
        w = self.tiler.array(op.w)
        filters = parts(self.shape.filters, plan.filters)
        tables = [self._table(w, k) for k in filters]
        if self.shape.depthwise:
            kernels = [[_packed(w[..., k[0] : k[1]], layout)] for k in filters]
        else:
            depths = parts(self.shape.channels, plan.channels)
            kernels = [
                [_packed(w[:, :, c[0] : c[1], k[0] : k[1]], layout) for c in depths]
                for k in filters
            ]
        if len(kernels[0]) == 1:
            joined = [
                _joined(kernel[0], t, layout) for kernel, t in zip(kernels, tables, strict=True)
            ]
            return self.tiler.weights(joined, "weights", plan.keep), None
        chunks = [chunk for kernel in kernels for chunk in kernel]
        keep = max(1, plan.keep // len(kernels[0]))
        return (
            self.tiler.weights(chunks, "weights", plan.keep),
            self.tiler.weights(tables, "tables", keep),
        )

    def _table(self, w: Array, filters: tuple[int, int]) -> Array:
        """Pack biases with zero points folded in, multipliers and shifts of some filters."""
        op = self.op
        first, end = filters
        kernel = w[..., first:end].astype(np.int64)
        total = kernel.sum(axis=tuple(range(kernel.ndim - 1)))
        bias = self.tiler.array(op.bias)[first:end] - op.source_zero * total
        if bias.min() < _I32.min or bias.max() > _I32.max:
            raise Unsupported(
                f"has no table for biases from {bias.min()} to {bias.max()}, zero points included"
            )
        count, padded = end - first, self.tiler.description.padded(end - first)
        table = np.zeros(TABLE_BYTES * padded, np.int8)
        words = table[: 8 * padded].view(np.int32).reshape(2, padded)
        words[0, :count] = bias
        words[1, :count] = _along(op.multiplier, filters)
        table[8 * padded : 8 * padded + count] = _along(op.shift, filters)
        return table


def _along(numbers: Sequence[int], filters: tuple[int, int]) -> Array:
    return np.array(numbers if len(numbers) == 1 else numbers[filters[0] : filters[1]])


def _packed(kernel: Array, layout: Layout) -> Array:
    """Return weights as bytes, their filters padded by zeros."""
    extra = layout.description.padded(kernel.shape[-1]) - kernel.shape[-1]
    return np.pad(kernel, [(0, 0)] * (kernel.ndim - 1) + [(0, extra)]).reshape(-1)


def _joined(kernel: Array, table: Array, layout: Layout) -> Array:
    gap = layout.aligned(kernel.size) - kernel.size
    return np.concatenate([kernel, np.zeros(gap, np.int8), table])
