"""Tile convolutions: over rows, columns and filters, and over channels that are accumulated."""

from dataclasses import dataclass

import numpy as np

from ....dialects import dla
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Unsupported
from ....dialects.core.numerics.integers import fields_of
from ....dialects.core.tensor import Array
from ....dialects.dla.types import ACCUMULATOR, BufferType
from ..layout.weights import kernel_with_table, packed_kernel, packed_table
from .conv_plan import ConvPlan, ConvShape, plan_conv
from .halo import HaloRegion, halo_regions
from .tile_sizes import parts
from .tiler import Reader, Tiler, Weights, Writer, tiles

_I32 = np.iinfo(np.int32)


@tiles(dla.Conv)
def tile_conv(op: dla.Conv, tiler: Tiler) -> None:
    """Write the tiles of a convolution by the cheapest plan."""
    shape, reader, writer = shape_of(op, tiler)
    plan = plan_conv(shape, tiler.layout, tiler.sram_free, tiler.weight_budget)
    _Tiles(op, tiler, shape, plan, reader, writer).write()


def shape_of(op: dla.Conv, tiler: Tiler) -> tuple[ConvShape, Reader, Writer]:
    """Return the sizes of a convolution, and the reader and writer of its images."""
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
        rows = halo_regions(self.op, 0, self.plan.rows)
        columns = halo_regions(self.op, 1, self.plan.columns)
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
        row: HaloRegion,
        column: HaloRegion,
        filters: tuple[int, int],
        number: int,
        weights: Weights,
        tables: Weights | None,
    ) -> None:
        """Write one tile of the result: load its window, accumulate over channels, store it."""
        layout = self.tiler.layout
        made = (row.out, column.out, filters)
        whole = filters if self.shape.depthwise else (0, self.shape.channels)
        read = self.reader.line_buffer if self.plan.line_buffer else self.reader.window
        source = read(image, (row.source, column.source, whole))
        target = self.writer.window(image, made)
        count = filters[1] - filters[0]
        padded = layout.description.padded(count)
        sizes = (1, row.out[1] - row.out[0], column.out[1] - column.out[0], padded)
        depths = [whole] if self.shape.depthwise else parts(whole[1], self.plan.channels)
        sums = self.tiler.alloc(BufferType(sizes, "i32", ACCUMULATOR))
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
        moved = fields_of(kernel=shape.kernel, strides=shape.strides, dilations=shape.dilations)
        return {**{name: getattr(op, name) for name in names}, **moved}

    def _kernel_bytes(self, filters: int, channels: tuple[int, int]) -> int:
        layout = self.tiler.layout
        depth = 1 if self.shape.depthwise else channels[1] - channels[0]
        return layout.aligned(self.shape.taps * depth * layout.description.padded(filters))

    def _constants(self) -> tuple[Weights, Weights | None]:
        """Pack weights and tables: in one chunk if all channels are summed at once."""
        op, layout, plan = self.op, self.tiler.layout, self.plan
        w = self.tiler.array(op.w)
        filters = parts(self.shape.filters, plan.filters)
        tables = [self._table(w, k) for k in filters]
        if self.shape.depthwise:
            kernels = [[packed_kernel(w[..., k[0] : k[1]], layout)] for k in filters]
        else:
            depths = parts(self.shape.channels, plan.channels)
            kernels = [
                [packed_kernel(w[:, :, c[0] : c[1], k[0] : k[1]], layout) for c in depths]
                for k in filters
            ]
        if len(kernels[0]) == 1:
            pairs = zip(kernels, tables, strict=True)
            chunks = [kernel_with_table(kernel, table, layout) for (kernel,), table in pairs]
            return self.tiler.weights(chunks, "weights", plan.keep), None
        chunks = [chunk for kernel in kernels for chunk in kernel]
        keep = max(1, plan.keep // len(kernels[0]))
        return (
            self.tiler.weights(chunks, "weights", plan.keep),
            self.tiler.weights(tables, "tables", keep),
        )

    def _table(self, w: Array, filters: tuple[int, int]) -> Array:
        """Pack the table of some filters, with zero points folded into biases."""
        op, chosen = self.op, slice(*filters)
        kernel = w[..., chosen].astype(np.int64)
        total = kernel.sum(axis=tuple(range(kernel.ndim - 1)))
        bias = self.tiler.array(op.bias)[chosen] - op.source_zero * total
        if bias.min() < _I32.min or bias.max() > _I32.max:
            raise Unsupported(
                f"has no table for biases from {bias.min()} to {bias.max()}, zero points included"
            )
        multiplier, shift = (n if len(n) == 1 else n[chosen] for n in (op.multiplier, op.shift))
        return packed_table(bias, multiplier, shift, self.tiler.layout)
