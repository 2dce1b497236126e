"""Mixtures of experts, in the forms in which models have them, are those of torch."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import trivium
from trivium.dialects.core.errors import CompileError

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.export import Dim  # noqa: E402
from torch.nn import functional  # noqa: E402

EXPERTS, CHOSEN, SIZE, INNER = 5, 2, 16, 24
Products = Callable[[Any, Any, Any], Any]


@torch.library.custom_op("transformers::grouped_mm_fallback", mutates_args=())
def fallback(input: torch.Tensor, weight: torch.Tensor, offs: torch.Tensor) -> torch.Tensor:
    parts = torch.tensor_split(input, offs[:-1].long())
    return torch.cat([rows @ w for rows, w in zip(parts, weight, strict=True)])


@fallback.register_fake
def _(input: torch.Tensor, weight: torch.Tensor, offs: torch.Tensor) -> torch.Tensor:
    return input.new_empty(input.shape[0], weight.shape[2])


def grouped_by_transformers(x: Any, w: Any, ends: Any) -> Any:
    return fallback(x, w.transpose(1, 2), ends)


class Experts(nn.Module):
    """A router, and feed-forward layers of which it chooses some for each token."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.router = nn.Linear(SIZE, EXPERTS)
        self.up = nn.Parameter(torch.randn(EXPERTS, INNER, SIZE) / 4)
        self.down = nn.Parameter(torch.randn(EXPERTS, SIZE, INNER) / 4)
        self.form = form

    def forward(self, x: Any) -> Any:
        weights, experts = self.router(x).softmax(-1).topk(CHOSEN, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        return getattr(self, self.form)(x, weights, experts)

    def sorted_rows(self, x: Any, weights: Any, experts: Any, product: Products) -> Any:
        numbers, order = experts.reshape(-1).sort()
        counts = torch.histc(numbers.float(), EXPERTS, min=0, max=EXPERTS - 1)
        ends = counts.cumsum(0, dtype=torch.int32)
        rows = functional.silu(product(x[order // CHOSEN], self.up, ends))
        made = product(rows, self.down, ends) * weights.reshape(-1)[order, None]
        back = torch.empty_like(order)
        back[order] = torch.arange(order.shape[0])
        return made[back].view(x.shape[0], CHOSEN, SIZE).sum(1)

    def grouped_by_transformers(self, x: Any, weights: Any, experts: Any) -> Any:
        return self.sorted_rows(x, weights, experts, grouped_by_transformers)

    def chosen_weights(self, x: Any, weights: Any, experts: Any) -> Any:
        numbers = experts.reshape(-1)
        rows = x.repeat_interleave(CHOSEN, dim=0)
        inner = functional.silu(torch.bmm(self.up[numbers], rows.unsqueeze(-1)))
        made = torch.bmm(self.down[numbers], inner).squeeze(-1) * weights.reshape(-1, 1)
        return made.view(x.shape[0], CHOSEN, SIZE).sum(1)

    def all_experts(self, x: Any, weights: Any, experts: Any) -> Any:
        share = (functional.one_hot(experts, EXPERTS) * weights.unsqueeze(-1)).sum(1)
        inner = functional.silu(torch.einsum("ts,eis->tei", x, self.up))
        return torch.einsum("tei,esi,te->ts", inner, self.down, share)

    def rows_of_each(self, x: Any, weights: Any, experts: Any) -> Any:
        made = torch.zeros_like(x)
        mask = functional.one_hot(experts, EXPERTS).permute(2, 1, 0)
        for expert in range(EXPERTS):
            place, token = torch.where(mask[expert])
            inner = functional.silu(functional.linear(x[token], self.up[expert]))
            out = functional.linear(inner, self.down[expert]) * weights[token, place, None]
            made.index_add_(0, token, out)
        return made


FORMS = ("grouped_by_transformers", "chosen_weights", "all_experts", "rows_of_each")


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_that_of_torch(form: str) -> None:
    torch.manual_seed(0)
    net, x = Experts(form).eval(), torch.randn(12, SIZE)
    session = trivium.compile(net, (x,), dynamic_shapes=({0: Dim("T", min=2, max=64)},))
    for count in (12, 31):
        x = torch.randn(count, SIZE)
        wanted = net(x).detach().numpy()
        np.testing.assert_allclose(session(x.numpy()), wanted, rtol=0, atol=1e-5)


class Grouped(nn.Module):
    """Torch's own products of groups."""

    def forward(self, a: Any, b: Any, ends: Any) -> Any:
        return functional.grouped_mm(a, b, offs=ends)


def whole(*shape: int) -> Any:
    """Draw numbers whose products and sums bf16 has, the one type that torch exports."""
    return torch.randint(-2, 3, shape).bfloat16()


def test_groups_of_rows_are_multiplied_by_their_matrices() -> None:
    torch.manual_seed(0)
    ends = torch.tensor([3, 3, 20, 24], dtype=torch.int32)
    given = whole(24, 16), whole(4, 8, 16).transpose(1, 2), ends
    session = trivium.compile(Grouped(), given)
    inputs = [x.float().numpy().astype(ml_dtypes.bfloat16) for x in given[:2]]
    made = session(*inputs, ends.numpy()).astype(np.float32)
    np.testing.assert_array_equal(made, Grouped()(*given).float().numpy())


def test_groups_of_the_depth_are_refused() -> None:
    ends = torch.tensor([8, 16], dtype=torch.int32)
    with pytest.raises(CompileError) as caught:
        trivium.compile(Grouped(), (whole(8, 16), whole(16, 8), ends))
    message = "has groups of tensor<8x16xbf16> and tensor<16x8xbf16>, must be of rows [M, K]"
    assert message in str(caught.value)
