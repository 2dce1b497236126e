"""Torch modules whose sizes data decide, or whose scales a run decides: one compile, two runs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import trivium

torch = pytest.importorskip("torch")
pytest.importorskip("pnnx")

functional = torch.nn.functional
RNG = torch.Generator().manual_seed(3)


class Module(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


def drawn(*shape: int) -> Any:
    return torch.randn(shape, generator=RNG)


def written(x: Any) -> Any:
    made = x.clone()
    made[x > 0] = 1.0
    return made


ROWS = drawn(4, 6), drawn(7, 6)
FOUND = {
    "rows by a mask": lambda x: x[x[:, 0] > 0],
    "elements by a mask": lambda x: x[x > 0] * 2,
    "written by a mask": written,
    "masked_select": lambda x: torch.masked_select(x, x > 0),
    "nonzero": lambda x: torch.nonzero(x > 0),
    "where": lambda x: torch.where(x > 0)[1],
    "unique": lambda x: torch.unique(x.round()),
    "arange": lambda x: torch.arange((x > 0).sum()),
    "a part": lambda x: x[: (x[:, 0] > 0).sum()],
}


def agrees(function: Callable[..., Any], *runs: tuple[Any, ...]) -> None:
    first, second = runs
    session = trivium.compile(
        Module(function).eval(), first, example_inputs2=second, converter="pnnx", target="host"
    )
    for inputs in runs:
        found = session.run({f"in{i}": x.numpy() for i, x in enumerate(inputs)})["out0"]
        wanted = function(*inputs).numpy()
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, 1e-4, 1e-4)


@pytest.mark.parametrize("name", FOUND)
def test_sizes_that_data_decide(name: str) -> None:
    agrees(FOUND[name], *((rows,) for rows in ROWS))


@pytest.mark.parametrize(
    ("mode", "align"), [("nearest", None), ("bilinear", False), ("bicubic", True)]
)
def test_scales_that_a_run_decides(mode: str, align: bool | None) -> None:
    def resized(x: Any, other: Any) -> Any:
        return functional.interpolate(x, size=other.shape[2:], mode=mode, align_corners=align)

    runs = (drawn(1, 3, 8, 8), drawn(1, 3, 12, 10)), (drawn(1, 3, 9, 7), drawn(1, 3, 5, 20))
    agrees(resized, *runs)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_smoothing_by_scales_that_a_run_decides(mode: str) -> None:
    def resized(x: Any, other: Any) -> Any:
        return functional.interpolate(x, size=other.shape[2:], mode=mode, antialias=True)

    runs = (drawn(1, 3, 8, 8), drawn(1, 3, 12, 3)), (drawn(1, 3, 9, 7), drawn(1, 3, 5, 20))
    agrees(resized, *runs)
