"""Transposed convolution of blocked images, phase by phase, beside torch."""

import numpy as np
import pytest
import torch
from torch.nn import functional
from trivium.dialects import cpu

LANES = 4


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize(
    ("kernel", "stride", "pad", "extra"),
    [
        (4, 2, 1, 0),
        (8, 4, 2, 0),
        (2, 2, 0, 0),
        (3, 2, 1, 1),
        (5, 2, 2, 1),
        (4, 4, 1, 2),
        (3, 1, 1, 0),
    ],
)
def test_phases_make_a_transposed_convolution(
    rank: int, kernel: int, stride: int, pad: int, extra: int
) -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 8, *(5, 6)[:rank])).astype(np.float32)
    w = random.standard_normal((8, 12, *(kernel,) * rank)).astype(np.float32)
    b = random.standard_normal(12).astype(np.float32)
    peer = (functional.conv_transpose1d, functional.conv_transpose2d)[rank - 1]
    options = {"stride": stride, "padding": pad, "output_padding": extra}
    wanted = peer(*map(torch.from_numpy, (x, w, b)), **options).numpy()
    taps, crop = -(-kernel // stride), pad % stride
    border = (taps - 1 - pad // stride, taps)  # more at the end than is needed
    image = cpu.Block(lanes=LANES).reference(np.pad(x, [(0, 0)] * 2 + [border] * rank))
    made = cpu.BlockedConvTranspose(
        outputs=12,
        kernel=(taps,) * rank,
        strides=(stride,) * rank,
        crops=(crop,) * rank,
        sizes=wanted.shape[2:],
    ).reference(image, cpu.pack_phases(w, (stride,) * rank, (crop,) * rank, 2 * LANES), b)
    np.testing.assert_allclose(cpu.Unblock().reference(made), wanted, rtol=1e-5, atol=1e-5)
