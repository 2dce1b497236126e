"""Ops on images of bytes compute what loops over Python's integers do, bit for bit."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import dla_numbers
import numpy as np
import pytest
from examples import examples
from examples_dla import DLA
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from trivium.dialects import dla
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.numerics.fixed_point import ROUNDINGS, multiply_shift
from trivium.dialects.core.numerics.integers import Window, divide
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Tensor

PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
LAW = settings(derandomize=True, deadline=None, max_examples=60, database=None, phases=PHASES)

MEANT: dict[type[Op], Callable[..., np.ndarray]] = {
    dla.Conv: dla_numbers.conv,
    dla.Pool: dla_numbers.pool,
    dla.Eltwise: dla_numbers.eltwise,
    dla.Lookup: dla_numbers.lookup,
    dla.Resize: dla_numbers.resize,
    dla.Copy: dla_numbers.copy,
    dla.Concat: dla_numbers.concat,
    dla.Slice: dla_numbers.window,
}


def completed(op: type[Op], given: dict[str, Any]) -> dict[str, Any]:
    return {f.name: f.default for f in op.fields.attributes if not f.required} | given


def test_every_op_is_compared() -> None:
    assert set(MEANT) == set(DLA)


@pytest.mark.parametrize("op", [pytest.param(op, id=op.op_name) for op in MEANT])
@LAW
@given(data=st.data())
def test_ops_compute_what_loops_do(op: type[Op], data: st.DataObject) -> None:
    example = data.draw(examples(DLA[op]))
    attributes = completed(op, example.attributes)
    got = op(**attributes).reference(*example.operands)
    expected = MEANT[op](*example.operands, attributes)
    assert got.dtype == np.int8
    assert got.tolist() == expected.tolist()


@pytest.mark.parametrize("depthwise", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_convs_are_those_of_torch(depthwise: bool, seed: int) -> None:
    """Larger ones than loops are good for; float64 holds these sums exactly."""
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(seed)
    integer = lambda low, high: int(random.integers(low, high + 1))  # noqa: E731
    channels, filters = integer(1, 40), integer(1, 40)
    x = random.integers(-128, 128, (2, integer(9, 20), integer(9, 20), channels)).astype(np.int8)
    kernel, pads = (integer(1, 4), integer(1, 4)), tuple(integer(0, 3) for _ in range(4))
    shape = (*kernel, channels) if depthwise else (*kernel, channels, filters)
    w = random.integers(-128, 128, shape).astype(np.int8)
    filters = w.shape[-1]
    bias = random.integers(-(1 << 20), 1 << 20, filters).astype(np.int32)
    moves = {
        "strides": (integer(1, 3), integer(1, 3)),
        "dilations": (integer(1, 2), integer(1, 2)),
    }
    zero, zero_out = integer(-128, 127), integer(-128, 127)
    multiplier = tuple(map(int, random.integers(1 << 30, 1 << 31, filters)))
    shift = tuple(map(int, random.integers(38, 50, filters)))

    centred = torch.from_numpy(x.astype(np.float64) - zero).permute(0, 3, 1, 2)
    padded = torch.nn.functional.pad(centred, (pads[1], pads[3], pads[0], pads[2]))
    weights = torch.from_numpy(w.astype(np.float64))
    weights = weights.permute(2, 0, 1)[:, None] if depthwise else weights.permute(3, 2, 0, 1)
    conv = torch.nn.functional.conv2d
    found = conv(
        padded,
        weights,
        torch.from_numpy(bias.astype(np.float64)),
        stride=moves["strides"],
        dilation=moves["dilations"],
        groups=channels if depthwise else 1,
    )
    sums = found.permute(0, 2, 3, 1).numpy().astype(np.int64)

    for rounding in ROUNDINGS:
        got = dla.Conv(
            mode="depthwise" if depthwise else "dense",
            **moves,
            pads=pads,
            source_zero=zero,
            multiplier=multiplier,
            shift=shift,
            rounding=rounding,
            destination_zero=zero_out,
            low=-128,
            high=127,
        ).reference(x, w, bias)
        assert got.shape == sums.shape
        for place in random.integers(0, sums.size, 300):
            at = np.unravel_index(place, sums.shape)
            f = int(at[-1])
            real = Fraction(int(sums[at]) * multiplier[f], 1 << shift[f])
            whole = dla_numbers.rounded(real, rounding) + zero_out
            assert got[at] == max(-128, min(127, whole))


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_products_are_rounded_where_halves_are(rounding: str) -> None:
    """At the very ends of what fits, and at each half around zero."""
    ends = [-(1 << 31), -(1 << 31) + 1, (1 << 31) - 1, *range(-9, 10)]
    for shift in (0, 1, 2, 30, 31, 32, 61, 62):
        for multiplier in (0, 1, 3, 1 << 30, (1 << 31) - 1):
            got = multiply_shift(np.array(ends), np.array(multiplier), np.array(shift), rounding)
            for x, y in zip(ends, got.tolist(), strict=True):
                assert y == dla_numbers.rounded(Fraction(x * multiplier, 1 << shift), rounding)


@LAW
@given(
    x=st.integers(-(1 << 61) + 1, (1 << 61) - 1),
    divisor=st.one_of(st.integers(1, 9), st.integers(1, 1 << 61)),
)
def test_divisions_are_exact(x: int, divisor: int) -> None:
    (got,) = divide(np.array([x]), np.array([divisor])).tolist()
    assert got == dla_numbers.rounded(Fraction(x, divisor), "half_away")


def test_average_of_the_most_that_there_is() -> None:
    """The division by a count has no overflow at the limits that the op states."""
    x = np.full((1, 3, 3, 1), -128, np.int8)
    attributes = completed(
        dla.Pool,
        {
            "mode": "average",
            "kernel": (3, 3),
            "divisor": "inside",
            "source_zero": 127,
            "multiplier": (1 << 31) - 1,
            "shift": 57,
        },
    )
    assert dla.Pool(**attributes).infer(Tensor.of(x)).shape == (1, 1, 1, 1)
    assert dla.Pool(**attributes).reference(x).tolist() == dla_numbers.pool(x, attributes).tolist()
    with pytest.raises(Invalid, match="divides by 9 << 58"):
        dla.Pool(**{**attributes, "shift": 58}).infer(Tensor.of(x))


def test_sums_beyond_32_bits_are_refused() -> None:
    x, w = np.full((1, 1, 1, 1), 1, np.int8), np.full((1, 1, 1, 1), 1, np.int8)
    attributes = completed(dla.Conv, {"multiplier": (1,), "shift": (0,)})
    bias = np.array([(1 << 31) - 2], np.int32)
    assert dla.Conv(**attributes).reference(x, w, bias).tolist() == [[[[127]]]]
    with pytest.raises(Invalid, match="sums reach 2147483648 to 2147483648, beyond 32 bits"):
        dla.Conv(**attributes).reference(x, w, bias + np.int32(1))


@LAW
@given(data=st.data())
def test_windows_that_miss_the_image(data: st.DataObject) -> None:
    """Beside a look at each tap of each window."""
    draw = lambda low, high: data.draw(st.tuples(st.integers(low, high), st.integers(low, high)))  # noqa: E731
    window = Window(draw(1, 5), draw(1, 4), draw(1, 7), draw(1, 7), draw(0, 9))
    sizes = draw(1, 6)
    missed = []
    for axis in (0, 1):
        for index in range(window.out[axis]):
            start = index * window.strides[axis] - window.pads[axis]
            met = [start + tap * window.dilations[axis] for tap in range(window.kernel[axis])]
            missed.append(not any(0 <= place < sizes[axis] for place in met))
    assert window.misses(sizes) == any(missed)


def test_a_later_window_may_miss_a_narrow_image() -> None:
    """Taps lie farther apart than the image is wide: those of the second window are around it."""
    window = Window((1, 2), (1, 2), (1, 1), (1, 3), (0, 3))
    assert not Window((1, 1), (1, 2), (1, 1), (1, 3), (0, 3)).misses((1, 1))
    assert window.misses((1, 1))
