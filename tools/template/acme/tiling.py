"""How the own op of acme is cut into tiles."""

from trivium.dialects.core.attributes import tensor_of
from trivium.targets.dla.blocks import blocks
from trivium.targets.dla.tiler import Tiler, tiles

from .dialect import LeakyRelu, LeakyReluTile


@tiles(LeakyRelu)
def tile_leaky_relu(op: LeakyRelu, tiler: Tiler) -> None:
    """Write tiles with as many rows as fit into what there is of sram."""
    reader, writer = tiler.reader(op.x), tiler.writer(op.y)
    shape, images = tensor_of(op.y.type).shape, reader.loads + writer.stores

    def need(rows: int, columns: int, channels: int) -> int:
        return rows * columns * tiler.layout.padded(channels) * images

    for made in blocks(shape[1:], tiler.layout, need, tiler.budget):
        rows, columns, channels = (end - first for first, end in made)
        for image in range(shape[0]):
            source, target = reader.window(image, made), writer.window(image, made)
            tiler.put(
                LeakyReluTile,
                source.buffer,
                target.buffer,
                source_at=source.at,
                destination_at=target.at,
                rows=rows,
                columns=columns,
                channels=channels,
                **op.attributes,
            )
            writer.finish(target, image, made)
