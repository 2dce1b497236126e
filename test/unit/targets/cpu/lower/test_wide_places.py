"""Kernels with vectors of places that have 64 bits, as large tensors need them."""

from collections.abc import Callable

import pytest
from closeness import assert_close
from cpu_kernels import compile_cases
from groups import Case, draw
from test_lower_wide import RANDOM, case, moves, normal, pools, reductions, resizes
from trivium.dialects import tri
from trivium.dialects.core.tensor import Tensor
from trivium.targets.cpu.kernels import index


def convolutions() -> list[Case]:
    image, line = normal(1, 4, 9, 13), normal(1, 4, 40)
    dense, deep, thin = normal(6, 4, 3, 3), normal(4, 1, 3, 3), normal(4, 1, 5)
    padded = {"pads": (1, 1, 1, 1), "dilations": (1, 1)}
    spread = {**padded, "output_padding": (0, 0)}
    return [
        case(tri.Conv, image, dense, strides=(1, 1), **padded),
        case(tri.Conv, image, dense, strides=(3, 3), **padded),
        case(tri.Conv, image, deep, strides=(3, 3), group=4, **padded),
        case(tri.Conv, line, thin, strides=(3,), pads=(2, 2), dilations=(1,), group=4),
        case(tri.ConvTranspose, image, normal(4, 3, 3, 3), strides=(2, 2), **spread),
    ]


@pytest.mark.parametrize("family", [convolutions, pools, resizes, reductions, moves])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_compute_the_same_with_places_of_64_bits(
    family: Callable[[], list[Case]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "NARROW_PLACES", 0)
    cases = draw(family, RANDOM)
    compiled = compile_cases(cases)
    for number, made in enumerate(cases):
        wanted = made.reference()
        results = compiled.run(number, made.inputs, [Tensor.of(y) for y in wanted])
        for got, want in zip(results, wanted, strict=True):
            assert_close(made, got, want, made.inputs)
