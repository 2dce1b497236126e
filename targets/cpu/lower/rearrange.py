"""Lowerings of ops that rearrange elements in blocks of space or in steps of time."""

from ....dialects import tri
from ....dialects.core.tensor import normalize_axis
from ...element_types import MOVES
from ..kernels.buffer import Buffer, Lanes
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.index import IndexExpr, index_of
from ..kernels.value import Value
from ..registry import template


@template(tri.DepthToSpace, types=MOVES)
def lower_depth_to_space(
    op: tri.DepthToSpace, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    (n, c, h, w), b = x.shape, op.blocksize
    depth = c // b**2
    if op.mode == "DCR":
        blocks = x.reshape((n, b, b, depth, h, w)).transpose((0, 3, 4, 1, 5, 2))
    else:
        blocks = x.reshape((n, depth, b, b, h, w)).transpose((0, 1, 4, 2, 5, 3))
    _copy_blocks(blocks, epilogue)


@template(tri.SpaceToDepth, types=MOVES)
def lower_space_to_depth(
    op: tri.SpaceToDepth, kernel: KernelBuilder, x: Buffer, epilogue: Epilogue
) -> None:
    (n, c, h, w), b = x.shape, op.blocksize
    blocks = x.reshape((n, c, h // b, b, w // b, b)).transpose((0, 3, 5, 1, 2, 4))
    _copy_blocks(blocks, epilogue)


def _copy_blocks(blocks: Buffer, epilogue: Epilogue) -> None:
    epilogue.reshape(blocks.shape).emit_copy(blocks)


@template(tri.ReverseSequence, types=MOVES)
def lower_reverse_sequence(
    op: tri.ReverseSequence, kernel: KernelBuilder, x: Buffer, lengths: Buffer, epilogue: Epilogue
) -> None:
    batch, time = (normalize_axis(a, len(x.shape)) for a in (op.batch_axis, op.time_axis))

    def read(at: list[IndexExpr], lanes: Lanes | None = None) -> Value:
        length, step = index_of(lengths.load([at[batch]])), at[time]
        mirrored = (length - 1 - step).maximum(0).minimum(x.shape[time] - 1)
        source = mirrored.select(step.less(length), step)
        return x.load([source if d == time else i for d, i in enumerate(at)], lanes)

    if max(batch, time) < len(x.shape) - 1:
        epilogue.emit_vectors(read, x.dtype)
    else:
        epilogue.emit_elementwise(read)
