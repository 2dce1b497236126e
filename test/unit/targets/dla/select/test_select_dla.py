"""Selection: the same bits before and after, for drawn ops; what is refused says why."""

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
import trivium
from drawn_ops import RULES, Drawn
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.location import node_names
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.dla.dialect import TensorOp
from trivium.passes.default import default_pipeline
from trivium.passes.eliminate import Eliminate
from trivium.passes.fold.fold_constants import FoldConstants
from trivium.passes.fold.fold_shapes import FoldShapes
from trivium.passes.pipeline import Pipeline
from trivium.passes.quantize.expose_storage import ExposeStorage
from trivium.passes.quantize.lower_quantized import LowerQuantized
from trivium.passes.rewriting import Rewriter
from trivium.targets.dla.registry import Configuration
from trivium.targets.dla.select.select_dla import SelectDla
from trivium.targets.dla.vanilla.packets import FILE
from trivium.targets.dla.vanilla.target import TARGET
from trivium.test.unit.compiler.digits import digits
from trivium.test.unit.passes.quantized_graph import Graph

COMPUTING = (tri.Requantize, tri.RequantizeMean, tri.MaxPool, tri.Gather, tri.Concat, tri.Resize)


def lowered(module: Module) -> None:
    for step in (Eliminate(), LowerQuantized(), ExposeStorage(), Eliminate()):
        step.run(module)


def refusals(module: Module) -> list[str]:
    """Return why each op of integers that was left was refused."""
    left = [op for op in ops(module.operation) if isinstance(op, COMPUTING)]
    return [module.refusal("vanilla", op) or "" for op in left]


@pytest.mark.parametrize("rule", RULES)
def test_selected_ops_give_the_same_bits(rule: str) -> None:
    for seed in range(20):
        drawn = Drawn(seed)
        with new_context():
            module = import_onnx(drawn.model(RULES[rule]))
            lowered(module)
            feeds = drawn.feeds()
            (before,) = run(module, feeds)
            SelectDla().run(module)
            Eliminate().run(module)
            module.verify()
            assert refusals(module) == [], seed
            assert any(isinstance(op, TensorOp) for op in ops(module.operation)), seed
            (after,) = run(module, feeds)
        assert after.dtype == before.dtype
        assert (after == before).all(), seed


@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize("rule", RULES)
def test_the_pipeline_of_a_model_selects_its_ops(rule: str, kind: str) -> None:
    """All passes up to groups for the accelerator, from what frontends make."""
    for seed in range(100, 110):
        drawn = Drawn(seed, kind)
        with new_context():
            module = import_onnx(drawn.model(RULES[rule]))
            feeds = drawn.feeds()
            passes = (
                *TARGET.early_passes(),
                *default_pipeline(2, quantized=True),
                *TARGET.passes(2),
            )
            Pipeline(passes).run(module)
            (after,) = run(module, feeds)
            again = import_onnx(Drawn(seed, kind).model(RULES[rule]))
            lowered(again)
            (before,) = run(again, feeds)
            assert refusals(module) == [], seed
            assert any(isinstance(op, TensorOp) for op in ops(module.operation)), seed
        assert after.dtype == before.dtype
        assert (after == before).all(), seed


# -- against torch and fractions --------------------------------------------------------------


def rounded(value: Fraction) -> int:
    """Round half away from zero."""
    whole = int(abs(value) + Fraction(1, 2))
    return whole if value > 0 else -whole


@pytest.mark.parametrize("rule", ["conv", "depthwise"])
def test_convolutions_are_those_of_torch(rule: str) -> None:
    """Sums by torch in f64, which are exact; factors by fractions."""
    for seed in range(12):
        drawn = Drawn(seed)
        with new_context():
            module = import_onnx(drawn.model(RULES[rule]))
            lowered(module)
            (conv,) = [op for op in ops(module.operation) if isinstance(op, tri.Conv)]
            (end,) = [op for op in ops(module.operation) if isinstance(op, tri.Requantize)]
            multipliers, shifts = end.multiplier, end.shift
            zero, low, high, given = end.zero_point, end.low, end.high, conv.attributes
            known = Rewriter(module).constants
            source = known(conv.x.owner.operands[1]) if conv.x.owner.name == "tri.sub" else 0
            w, b = known(conv.w), None if conv.b is None else known(conv.b)
            (x,) = drawn.feeds()
            SelectDla().run(module)
            (y,) = run(module, [x])
        rank = x.ndim - 2
        pads = [pad for i in reversed(range(rank)) for pad in given["pads"][i::rank]]
        centered = torch.from_numpy(x.astype(np.float64) - np.float64(source))
        padded = torch.nn.functional.pad(centered, pads)
        convolve = torch.nn.functional.conv2d if rank == 2 else torch.nn.functional.conv1d
        sums = convolve(
            padded,
            torch.from_numpy(w.astype(np.float64)),
            None if b is None else torch.from_numpy(b.astype(np.float64)),
            stride=given["strides"],
            dilation=given["dilations"],
            groups=given["group"],
        ).numpy()
        for place in np.ndindex(*sums.shape):
            channel = place[1] if len(multipliers) > 1 else 0
            factor = Fraction(multipliers[channel], 1 << shifts[channel])
            want = rounded(int(sums[place]) * factor) + zero
            assert y[place] == min(max(want, low), high), (seed, place)


# -- what a description changes ---------------------------------------------------------------


def described(tmp_path: Path, *changes: tuple[str, str]) -> str:
    """Write vanilla's description with some lines changed."""
    text = FILE.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path = tmp_path / "changed.toml"
    path.write_text(text)
    return str(path)


def refused(value: str, graph: Graph, bits: int = 31, description: str = "") -> list[str]:
    """Return why ops of integers that the pass leaves were refused."""
    with new_context():
        module = import_onnx(graph.model(value, 0.1, 3))
        Eliminate().run(module)
        LowerQuantized(bits=bits).run(module)
        ExposeStorage().run(module)
        SelectDla(Configuration("vanilla", description)).run(module)
        module.verify()
        return refusals(module)


def graph_of(kind: str = "int8") -> Graph:
    return Graph(kind, np.random.default_rng(1))


def conv_of(graph: Graph, kernel: int = 3, **attributes: Any) -> str:
    x = graph.input((1, 4, 20, 20), 0.02, 7)
    return graph.op("Conv", [x, graph.weights_of((5, 4, kernel, kernel), 0)], **attributes)


def test_limits_are_those_of_the_description(tmp_path: Path) -> None:
    graph = graph_of()
    assert refused(conv_of(graph), graph) == []
    small = described(
        tmp_path, ("kernel_rows = { least = 1, most = 16", "kernel_rows = { least = 1, most = 2")
    )
    graph = graph_of()
    (said,) = refused(conv_of(graph), graph, description=small)
    assert said == "vanilla: field 'kernel_rows' is 3: conv takes kernels of 1 to 16 rows"
    graph = graph_of()
    (said,) = refused(conv_of(graph, 17), graph)
    assert said == "vanilla: field 'kernel_rows' is 17: conv takes kernels of 1 to 16 rows"


def test_multipliers_have_the_bits_of_the_description(tmp_path: Path) -> None:
    narrow = described(tmp_path, ("multiplier_bits = 31", "multiplier_bits = 16"))
    graph = graph_of()
    (said,) = refused(conv_of(graph), graph, description=narrow)
    assert re.fullmatch(r"vanilla: multiplier is \d+, must have at most 16 bits", said)
    graph = graph_of()
    assert refused(conv_of(graph), graph, bits=16, description=narrow) == []


def test_halves_go_where_the_description_says(tmp_path: Path) -> None:
    even = described(tmp_path, ('rounding = "half_away"', 'rounding = "half_even"'))
    graph = graph_of()
    (said,) = refused(conv_of(graph), graph, description=even)
    assert said == "vanilla rounds half_even, not half_away"


def test_parts_of_a_join_end_where_packets_can_write(tmp_path: Path) -> None:
    def join(graph: Graph) -> str:
        parts = [graph.input((1, 16, 2, 3), 0.1, 3), graph.input((1, 5, 2, 3), 0.1, 3)]
        return graph.op("Concat", parts, axis=1)

    graph = graph_of()
    assert refused(join(graph), graph) == []
    dram = "dram = { bytes = 0x10_0000_0000, alignment = "
    for changed in (("atom = 16", "atom = 32"), (f"{dram}16", f"{dram}32")):
        wide = described(tmp_path, changed)
        graph = graph_of()
        (said,) = refused(join(graph), graph, description=wide)
        assert said == "vanilla joins parts of a multiple of 32 channels, not 16"


def test_averages_that_the_pool_cannot_scale_are_convolutions(tmp_path: Path) -> None:
    """A convolution has other limits; where it refuses too, the pool's sentence is said."""
    few = described(tmp_path, ("shift = { least = 0, most = 48", "shift = { least = 0, most = 9"))

    def average(graph: Graph, size: int) -> str:
        x = graph.input((1, 2, 20, 20), 0.1, 3)
        return graph.op("AveragePool", [x], kernel_shape=[size, 2])

    for size, said in ((16, []), (17, ["vanilla: field 'shift' is 3"])):
        graph = graph_of()
        found = refused(average(graph, size), graph, description=few)
        assert [text[: len(said[0])] for text in found] == said


REFUSED: dict[str, tuple[Callable[[Graph], str], str]] = {
    "stride": (
        lambda g: conv_of(g, strides=[9, 1]),
        "vanilla: field 'stride_rows' is 9: conv moves by 1 to 8 rows",
    ),
    "pads": (
        lambda g: conv_of(g, pads=[0, 9, 0, 9]),
        "pads by 9, must be less than the kernel spans, 3",
    ),
    "pool": (
        lambda g: g.op("MaxPool", [g.input((1, 2, 99, 99), 0.1, 3)], kernel_shape=[65, 1]),
        "vanilla: field 'kernel_rows' is 65: pool takes windows of 1 to 64 rows",
    ),
    "mean": (
        lambda g: g.op("GlobalAveragePool", [g.input((1, 2, 65, 3), 0.1, 3)]),
        "vanilla: field 'kernel_rows' is 65: pool takes windows of 1 to 64 rows",
    ),
    "channels": (
        lambda g: g.op("Add", [g.input((1, 4, 2, 3), 0.1, 3), g.input((1, 1, 2, 3), 0.1, 3)]),
        "vanilla does not repeat channels",
    ),
    "both": (
        lambda g: g.op("Add", [g.input((1, 4, 2, 1), 0.1, 3), g.input((1, 4, 1, 3), 0.1, 3)]),
        "vanilla repeats one of two operands, not both",
    ),
    "cubes": (
        lambda g: g.op(
            "Conv", [g.input((1, 2, 3, 3, 3), 0.1, 3), g.weights_of((2, 2, 1, 1, 1), 0)]
        ),
        "convolves over 3 axes, must be rows and columns",
    ),
    "batches": (
        lambda g: g.op("Concat", [g.input((1, 4, 2, 3), 0.1, 3)] * 2, axis=0),
        "concatenates along the batch, must be rows, columns or channels",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_there_is_no_packet_for_stays_and_says_why(case: str) -> None:
    build, said = REFUSED[case]
    graph = graph_of()
    assert said in refused(build(graph), graph)


def test_unsigned_bytes_are_refused() -> None:
    graph = graph_of("uint8")
    assert refused(conv_of(graph), graph) == ["vanilla takes values of i8, not of ui8"]


# -- neighbours -------------------------------------------------------------------------------


def test_nothing_is_turned_around_between_neighbours(tmp_path: Path) -> None:
    """A network that knows digits: what is left beside the accelerator is at its two ends."""
    data, path = digits(), tmp_path / "quantized.onnx"
    trivium.quantize(data.model, {"x": data.calibration}, path)
    with new_context():
        module = import_onnx(onnx.load(path))
        lowered(module)
        (before,) = run(module, [data.images[:99]])
        for step in (SelectDla(), FoldConstants(), FoldShapes(), FoldConstants(), Eliminate()):
            step.run(module)
        (after,) = run(module, [data.images[:99]])
        names = [op.op_name for op in ops(module.operation) if op.operation.operands]
        nodes = [
            node_names(op.location) for op in ops(module.operation) if op.op_name == "dla.conv"
        ]
    assert names == [
        *("tri.quantize", "tri.storage_cast", "tri.reshape"),
        *("dla.conv", "dla.pool", "dla.conv", "dla.conv"),
        *("tri.reshape", "tri.storage_cast", "tri.dequantize"),
    ]
    np.testing.assert_array_equal(after, before)
    assert [found[1] for found in nodes[:2]] == ["relu0", "relu1"]
