import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.tensor import Tensor

torch = pytest.importorskip("torch")


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


MASKS = {
    "none": None,
    "added": normal(4, 5, 7),
    "kept": np.random.default_rng(5).random((2, 1, 5, 7)) > 0.4,
}


@pytest.mark.parametrize("mask", list(MASKS))
@pytest.mark.parametrize("heads", [4, 2, 1])
def test_attention_is_what_torch_computes(heads, mask):
    q, k, v = normal(2, 4, 5, 8), normal(2, heads, 7, 8, seed=1), normal(2, heads, 7, 3, seed=2)
    masks = [] if MASKS[mask] is None else [MASKS[mask]]
    got = tri.Attention(scale=0.3).reference(q, k, v, masks)
    tensors = [torch.tensor(a) for a in (q, k, v)]
    kept = None if MASKS[mask] is None else torch.tensor(MASKS[mask])
    want = torch.nn.functional.scaled_dot_product_attention(
        *tensors, attn_mask=kept, scale=0.3, enable_gqa=True
    )
    np.testing.assert_allclose(got, want, 1e-5, 1e-6)


def test_causal_attention_hides_later_keys():
    q, k, v = normal(1, 2, 5, 8), normal(1, 2, 7, 8, seed=1), normal(1, 2, 7, 3, seed=2)
    got = tri.Attention(scale=0.3, causal=True).reference(q, k, v)
    want = torch.nn.functional.scaled_dot_product_attention(
        *map(torch.tensor, (q, k, v)), is_causal=True, scale=0.3
    )
    np.testing.assert_allclose(got, want, 1e-5, 1e-6)


@pytest.mark.parametrize("mask", [np.zeros((2, 3), bool), np.full((2, 3), -np.inf, np.float32)])
def test_a_query_that_sees_no_key_gives_zeros(mask):
    mask[1] = True if mask.dtype == bool else 0
    q, k, v = normal(1, 2, 4), normal(1, 3, 4), normal(1, 3, 5)
    y = tri.Attention(scale=1.0).reference(q, k, v, [mask])
    assert not y[0, 0].any()
    assert np.isfinite(y).all()
    assert y[0, 1].all()


def test_half_types_are_computed_in_f32():
    x = np.full((1, 2, 4096), 8, np.float16)
    y = tri.Attention(scale=1.0).reference(x, x, x)  # scores of 262144
    assert y.dtype == np.float16
    assert (y == 8).all()


def f32(*shape):
    return Tensor(shape, "f32")


Q, K, V = f32(2, 4, 5, 8), f32(2, 2, 7, 8), f32(2, 2, 7, 3)


@pytest.mark.parametrize(
    ("operands", "message"),
    [
        ((f32(5, 8), f32(7, 8), f32(7, 3)), "operands have ranks 2, 2, 2, must be the same"),
        ((Q, f32(2, 2, 7, 9), V), "queries have 8 elements, keys 9, must be the same"),
        ((Q, K, f32(2, 2, 6, 3)), "must agree but for the last axis"),
        ((f32(3, 4, 5, 8), K, V), "must agree in the axes before the heads"),
        ((f32(2, 3, 5, 8), K, V), "3 query heads do not share 2 key heads evenly"),
        ((Q, K, V, [Tensor((5, 7), "i32")]), "mask has element type i32, must be f32 or i1"),
        (
            (Q, K, V, [f32(3, 1, 4, 5, 7)]),
            r"mask is .*, must broadcast to scores of \(2, 4, 5, 7\)",
        ),
        ((Tensor((2, 4, 5, 8), "i8"), K, V), "element type is i8, must be a float"),
    ],
)
def test_attention_refuses_what_does_not_fit(operands, message):
    with pytest.raises(Invalid, match=message):
        tri.Attention(scale=1.0).infer(*operands)
