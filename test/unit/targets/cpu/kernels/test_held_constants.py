"""Constants that are made once before loops, as kernels of symbolic sizes show in their text."""

import re

import pytest
from cpu_kernels import lower
from symbolic_groups import Dynamic, Sizes, build, forget_groups
from trivium.dialects import tri
from trivium.dialects.core.machine import LEVELS
from trivium.dialects.core.mlir import ir, new_context

SOFTMAX = Dynamic(tri.Softmax, ["3 T"], {"axis": -1})
FENCE = re.compile(r'"llvm\.arithmetic\.fence\.v16f32"\((%\w+)\)')


def text_of(sizes: Sizes | None) -> str:
    with new_context(), ir.Location.unknown():
        text = lower(build(SOFTMAX, sizes, "cpu"), LEVELS[-1]).text
        forget_groups()
    return text


def test_constants_of_strips_of_changing_length_are_made_once_before_their_loops() -> None:
    text = text_of(None)
    held = FENCE.findall(text)
    assert held
    assert len(held) == len(set(held))
    loop = text[text.index("scf.for") :]
    for constant in held:
        line = next(line for line in loop.splitlines() if f"({constant})" in line)
        assert re.match(" {6}%", line), f"in the loop over rows, before all loops in it: {line}"
        assert f"{constant} = arith.constant dense<" in loop


@pytest.mark.parametrize("length", [16, 100, 4096])
def test_strips_of_known_length_hold_nothing(length: int) -> None:
    assert not FENCE.search(text_of({"T": length}))
