"""Lengths and shapes that a run gives to rules on signals, images and sequences."""

from typing import Any

import numpy as np
import pytest
from test_selection_rules import check

RNG = np.random.default_rng(7)
SIGNAL = RNG.normal(size=(2, 12, 1)).astype(np.float32)


def given(**values: Any) -> dict[str, Any]:
    return {name: np.asarray(value) for name, value in values.items()}


@pytest.mark.parametrize("free", ["2, 12, 1", "N, T, 1"])
def test_length_of_a_spectrum(free: str) -> None:
    text = f"""main (float[{free}] x, int64 n) => (float[a, b, 2] y)
        {{ y = DFT <onesided = 1> (x, n) }}"""
    check(text, [given(x=SIGNAL, n=n) for n in (5, 12, 16)])


@pytest.mark.parametrize("parts", [1, 2])
def test_axis_of_a_spectrum(parts: int) -> None:
    x = RNG.normal(size=(3, 4, 6, parts)).astype(np.float32)
    text = (
        f"main (float[3, 4, 6, {parts}] x, int64 a) => (float[p, q, r, 2] y) {{ y = DFT (x, , a) }}"
    )
    check(text, [given(x=x, a=a) for a in (1, 2, -2, -3)], 20)


def test_spectra_of_any_length() -> None:
    text = "main (float[N, T, 1] x) => (float[N, T, 2] y) { y = DFT (x) }"
    check(text, [{"x": SIGNAL[:, :n]} for n in (1, 7, 12)])


def test_steps_and_lengths_of_frames() -> None:
    text = """main (float[N, T, 1] x, int64 s, int64 n) => (float[a, b, c, 2] y)
        { y = STFT (x, s, , n) }"""
    check(text, [given(x=SIGNAL, s=s, n=n) for s, n in ((3, 4), (1, 12), (5, 7))])


def test_frames_by_a_window() -> None:
    text = """main (float[N, T, 1] x, float[W] w) => (float[a, b, c, 2] y) <int64 s = {2}>
        { y = STFT (x, s, w) }"""
    windows = [np.hanning(size + 2)[1:-1].astype(np.float32) for size in (4, 12)]
    check(text, [given(x=SIGNAL, w=each) for each in windows])


def test_mel_bands() -> None:
    text = """main (int64 b, int64 n, int64 r, float l, float h) => (float[p, q] y)
        { y = MelWeightMatrix (b, n, r, l, h) }"""
    rows = [(8, 16, 8192, 0, 4096), (4, 32, 16000, 20, 7600)]
    feeds = [dict(zip("bnrlh", each, strict=True)) for each in rows]
    check(
        text,
        [
            {k: np.array(v, np.float32 if k in "lh" else np.int64) for k, v in f.items()}
            for f in feeds
        ],
    )


def test_pixels_of_a_grid() -> None:
    theta = RNG.normal(size=(1, 2, 3)).astype(np.float32)
    for align, one in ((0, 1), (1, 2)):  # ONNX Runtime puts a single pixel elsewhere, at a corner
        text = f"""main (float[N, 2, 3] t, int64[4] s) => (float[a, b, c, 2] y)
            {{ y = AffineGrid <align_corners = {align}> (t, s) }}"""
        check(
            text, [given(t=theta, s=[1, 1, *size]) for size in ((3, 4), (5, one), (one, one))], 20
        )


def test_voxels_of_a_grid() -> None:
    theta = RNG.normal(size=(2, 3, 4)).astype(np.float32)
    for align in (0, 1):
        text = f"""main (float[N, 3, 4] t, float[N, C, D, H, W] x) => (float[a, b, c, d, e] y)
            {{ s = Shape (x)  y = AffineGrid <align_corners = {align}> (t, s) }}"""
        shapes = [(2, 1, 4, 3, 5), (2, 1, 2, 7, 2)]
        check(text, [given(t=theta, x=np.zeros(s, np.float32)) for s in shapes], 20)


@pytest.mark.parametrize("pads", ["", ", pads = [1, 0, 2, 1]"])
def test_blocks_of_an_image(pads: str) -> None:
    text = f"""main (float[N, R, L] x, int64[2] s, int64[2] b) => (float[p, q, h, w] y)
        {{ y = Col2Im <strides = [2, 1]{pads}> (x, s, b) }}"""
    cases = []
    for image, block in (((6, 5), (2, 3)), ((4, 3), (1, 2))):
        more = (3, 1) if pads else (0, 0)
        steps = zip(image, more, block, (2, 1), strict=True)
        windows = np.prod([(i + p - k) // s + 1 for i, p, k, s in steps])
        x = RNG.normal(size=(2, 3 * int(np.prod(block)), windows)).astype(np.float32)
        cases.append(given(x=x, s=image, b=block))
    check(text, cases, 18)


def test_parts_of_a_sequence() -> None:
    text = """main (float[2, 3, T] x, int64[2] s) => (float[a, 3, b] y)
        <int64 last = {1}> { q = SplitToSequence <axis = 2> (x, s)  y = SequenceAt (q, last) }"""
    x = RNG.normal(size=(2, 3, 4)).astype(np.float32)
    check(text, [given(x=x, s=s) for s in ([1, 3], [4, 0], [2, 2])])
