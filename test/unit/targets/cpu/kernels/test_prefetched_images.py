"""Convolutions of blocked images prefetch what another core may have, in images of any size."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from cpu_kernels import compile_groups
from groups import Case, build_group
from trivium.dialects import cpu
from trivium.dialects.core.machine import host_machine
from trivium.dialects.core.tensor import Array, Tensor

RANDOM = np.random.default_rng(5)
WINDOW = {"strides": (1, 1), "dilations": (1, 1)}


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape, np.float32)


def depthwise() -> tuple[Case, Array]:
    x, w = normal(1, 2, 5, 6, 16), normal(32, 1, 3, 3)
    case = Case("", cpu.LaneConv, (x, cpu.pack_lanes(w, 16)), WINDOW | {"kernel": (3, 3)})
    taps = w.reshape(2, 16, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return case, np.einsum("nbhwcij,bcij->nbhwc", windows, taps)


def pointwise() -> tuple[Case, Array]:
    x, w = normal(1, 2, 5, 6, 16), normal(32, 32, 1, 1)
    panels = cpu.pack_group_columns(w, 1, 32)
    more = WINDOW | {"kernel": (1, 1), "outputs": 32, "lanes": 16}
    want = np.einsum("nbhwc,obc->nohw", x, w.reshape(32, 2, 16))
    blocked = want.reshape(1, 2, 16, 5, 6).transpose(0, 1, 3, 4, 2)
    return Case("", cpu.BlockedConv, (x, panels), more), blocked


@pytest.mark.parametrize(("made", "access"), [(depthwise, "write"), (pointwise, "read")])
def test_a_small_image_is_prefetched(made: Callable[[], tuple[Case, Array]], access: str) -> None:
    case, want = made()
    compiled = compile_groups([lambda: build_group(case)], host_machine())
    (got,) = compiled.run(0, case.inputs, [Tensor.of(want.astype(np.float32))])
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    kinds = re.findall(r"memref\.prefetch .*, (read|write),", compiled.kernels[0].text)
    assert access in kinds
