"""Kernels that models spend their time in, built as lowerings build them."""

from collections.abc import Callable, Mapping

from trivium.dialects import tile
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.tensor import Tensor
from trivium.targets.gpu.emit.print_kernel import print_kernel
from trivium.targets.gpu.emit.source import Source
from trivium.targets.gpu.kernels.builder import KernelBuilder
from trivium.targets.gpu.kernels.loop import loop
from trivium.targets.gpu.kernels.value import Value, dot, made, zeros

SIZE = 512
BLOCKS = {"BM": 128, "BN": 128, "BK": 64}
SMALL = {"BM": 64, "BN": 64, "BK": 32}
"""Blocks for what matrix units do not multiply: more would not fit in registers."""


def _printed(name: str, build: Callable[[KernelBuilder], None], strict: bool = False) -> Source:
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        builder = KernelBuilder(module, name, ir.Location.name(name))
        with builder:
            build(builder)
        (kernel,) = builder.finish()
        return print_kernel(kernel.op, strict)


def matmul(
    dtype: str = "f16",
    result: str = "f32",
    precision: str = "ieee",
    blocks: Mapping[str, int] = BLOCKS,
) -> Source:
    """Multiply matrices that are loaded element by element; b lies column by column."""

    def build(kernel: KernelBuilder) -> None:
        square = Tensor((SIZE, SIZE), dtype)
        a, b = kernel.argument("a", square, name="a"), kernel.argument("b", square, (1, 0), "b")
        c = kernel.argument("c", Tensor((SIZE, SIZE), result), name="c", output=True)
        rows = kernel.axis(SIZE, "BM", blocks["BM"], "rows").expand(1)
        columns = kernel.axis(SIZE, "BN", blocks["BN"], "columns").expand(0)
        step = kernel.block_of("BK", blocks["BK"])

        def body(k: Value, acc: Value) -> Value:
            ks = kernel.indices(k, "BK", "ks")
            left = a.load_raw([rows, ks.expand(0)])
            return dot(left, b.load_raw([ks.expand(1), columns]), acc, precision)

        (total,) = loop(0, SIZE, step, [zeros(result, "BM", "BN")], body, "k")
        c.store(total, [rows, columns])

    return _printed("matmul", build)


def matmul_descriptors() -> Source:
    """Multiply matrices of f16 that are loaded by the block."""

    def build(kernel: KernelBuilder) -> None:
        square = Tensor((SIZE, SIZE), "f16")
        a, b = kernel.argument("a", square, name="a"), kernel.argument("b", square, name="b")
        c = kernel.argument("c", square, name="c", output=True)
        sizes = {name: kernel.block_of(name, size) for name, size in BLOCKS.items()}
        row = kernel.programs(SIZE, "BM") * sizes["BM"]
        column = kernel.programs(SIZE, "BN") * sizes["BN"]

        def load(memory: ir.Value, offsets: list[Value], block: tuple[str, str]) -> Value:
            values = [offset.value for offset in offsets]
            return made(tile.LoadBlock.build(memory, values, block=block))

        def body(k: Value, acc: Value) -> Value:
            left = load(a.memory, [row, k], ("BM", "BK"))
            return dot(left, load(b.memory, [column, k], ("BN", "BK")).transpose(), acc)

        (total,) = loop(0, SIZE, sizes["BK"], [zeros("f32", "BM", "BN")], body, "k")
        tile.StoreBlock.build(total.cast("f16").value, c.memory, [row.value, column.value])

    return _printed("matmul", build)


def softmax() -> Source:
    """Normalise rows of 1000 numbers of f16, one row for each program."""

    def build(kernel: KernelBuilder) -> None:
        shape = Tensor((64, 1000), "f16")
        x = kernel.argument("x", shape)
        y = kernel.argument("y", shape, name="y", output=True)
        kernel.block_of("BN", 1024)
        row, columns = kernel.programs(64), kernel.indices(0, "BN", "columns")
        numbers = x.load([row, columns], pad=float("-inf"))
        powers = (numbers - numbers.reduce("max", 0)).apply("exp")
        y.store(powers / powers.reduce("sum", 0), [row, columns])

    return _printed("softmax", build)


def scale() -> Source:
    """Double 100000 numbers of f16."""

    def build(kernel: KernelBuilder) -> None:
        shape = Tensor((102400,), "f16")
        x, y = kernel.argument("x", shape), kernel.argument("y", shape, name="y", output=True)
        index = kernel.axis(102400, "BLOCK", 1024, "index")
        y.store(x.load([index]) * 2.0, [index])

    return _printed("scale", build)
