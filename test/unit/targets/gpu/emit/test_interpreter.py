"""The harness itself: a kernel that leaves its buffers is caught, and the next one runs."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from interpreter import InterpreterError, run_source
from sources import HEAD, double, needs_triton, pointers
from trivium.targets.gpu.emit.source import Source

pytestmark = needs_triton


def test_a_kernel_writes_its_outputs() -> None:
    x = np.arange(1000, dtype=np.float32)
    same, y = run_source(double(), [x, np.full(1000, np.nan, np.float32)])
    assert np.array_equal(same, x)
    assert np.array_equal(y, 2 * x)


@pytest.mark.parametrize(
    ("old", "new"),
    [("mask=inside, other=0.0", "mask=offsets < 1024, other=0.0"), (", mask=inside)\n", ")\n")],
)
def test_a_step_beyond_the_end_is_a_crash_with_a_name(old: str, new: str) -> None:
    text = double("careless").text
    assert old in text
    x = np.zeros(1000, np.float32)
    with pytest.raises(InterpreterError, match="kernel 'careless': the process crashed with"):
        run_source(replace(double("careless"), text=text.replace(old, new)), [x, x])
    assert run_source(double(), [x, x])[1].shape == (1000,)


def test_a_step_before_the_beginning_is_seen() -> None:
    text = double("early").text.replace("y_ptr + offsets", "y_ptr + offsets - 1")
    x = np.zeros(1000, np.float32)
    with pytest.raises(InterpreterError, match=r"kernel 'early': .* wrote before the beginning"):
        run_source(replace(double("early"), text=text), [x, x])


def test_an_error_of_tritons_is_passed_on() -> None:
    wrong = replace(double("wrong"), text=double("wrong").text.replace("tl.load", "tl.laod"))
    x = np.zeros(1000, np.float32)
    with pytest.raises(InterpreterError, match=r"kernel 'wrong': .*has no attribute 'laod'"):
        run_source(wrong, [x, x])


BFLOAT16 = """def bfloat16(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + places)
    tl.store(y_ptr + places, tl.dot(x, x).to(tl.bfloat16))
    tl.store(z_ptr + places, x + x * x)
"""


def test_bfloat16_is_rounded_as_gpus_do() -> None:
    """Compare with ml_dtypes, which rounds to nearest even."""
    names = ("x_ptr", "y_ptr", "z_ptr")
    source = Source(
        HEAD + BFLOAT16, "bfloat16", pointers("bf16", (16, 16), *names), (("BLOCK", 16),)
    )
    x = np.random.default_rng(0).standard_normal((16, 16)).astype(ml_dtypes.bfloat16)
    _, product, total = run_source(source, [x, np.zeros_like(x), np.zeros_like(x)])
    exact = x.astype(np.float64) @ x.astype(np.float64)
    assert np.array_equal(product, exact.astype(np.float32).astype(ml_dtypes.bfloat16))
    assert np.array_equal(total, x + x * x)
