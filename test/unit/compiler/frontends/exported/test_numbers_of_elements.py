"""Numbers of Python that programs take from tensors: negative ones, and those used as sizes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.export import export, save  # noqa: E402

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda x: x.item(),
    "sum": lambda x: x.item() + 3,
    "difference": lambda x: 3 - x.item(),
    "product with a float": lambda x: x.item() * 2.5,
    "negative": lambda x: -x.item(),
    "floor": lambda x: x.item() // 3,
    "remainder": lambda x: x.item() % 3,
    "quotient": lambda x: x.item() / 3,
    "operand": lambda x: torch.ones(3, dtype=torch.float16) * x.item(),
    "filling": lambda x: torch.full((2, 2), x.item()),
    "filling of another type": lambda x: torch.full_like(x.double(), x.item()),
    "list": lambda x: torch.stack([x, x * 2]).tolist(),
}
"""Functions of a number that may be negative."""

OF_SIZES: dict[str, Callable[[Any], Any]] = {
    "size and number": lambda x: (torch.zeros(x.item()), x.item() + 2),
    "two shapes": lambda x: torch.zeros(x.item()) + torch.ones(x.item(), 1),
    "filled with its length": lambda x: torch.full((x.item(),), x.item()),
}
"""Functions of a number of which a size is made."""


class Function(nn.Module):
    """Compute one of the functions."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


@pytest.mark.parametrize("name", [*FUNCTIONS, *OF_SIZES])
def test_numbers_are_those_of_torch(name: str, tmp_path: Path) -> None:
    module = Function((FUNCTIONS | OF_SIZES)[name])
    program = export(module, (torch.tensor(7),))
    save(program.run_decompositions({}), tmp_path / "net.pt2")
    for model in (program, tmp_path / "net.pt2"):
        session = trivium.compile(model)
        for value in (4, -8) if name in FUNCTIONS else (4, 1):
            x = torch.tensor(value)
            made, wanted = module(x), list(session.run({"x": x.numpy()}).values())
            listed = made if isinstance(made, (list, tuple)) else [made]
            for have, want in zip(wanted, map(torch.as_tensor, listed), strict=True):
                assert have.dtype.kind == want.numpy().dtype.kind
                np.testing.assert_allclose(have, want.numpy(), rtol=1e-6)


def test_a_size_that_is_negative_is_an_error() -> None:
    session = trivium.compile(export(Function(lambda x: torch.zeros(x.item())), (torch.tensor(7),)))
    with pytest.raises(trivium.runtime.errors.RunError, match="finds -8 for size"):
        session.run({"x": np.array(-8)})
