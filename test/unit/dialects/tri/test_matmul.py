import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.tensor import Tensor
from trivium.dialects.tri.linear_algebra.equation import Equation

torch = pytest.importorskip("torch")


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 4)),
        ((3,), (2, 3, 4)),
        ((5, 1, 2, 3), (4, 3, 2)),
        ((2, 0), (0, 3)),
    ],
)
def test_matmul_is_what_torch_computes(left, right):
    a, b = normal(*left), normal(*right, seed=1)
    got = tri.MatMul().reference(a, b)
    np.testing.assert_allclose(got, torch.tensor(a) @ torch.tensor(b), 1e-5, 1e-6)
    assert tri.MatMul().infer(Tensor.of(a), Tensor.of(b)) == Tensor.of(got)


@pytest.mark.parametrize("bias", [(2, 5), (5,), (2, 1), (), None])
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_gemm_scales_the_product_and_the_bias(bias, trans_a, trans_b):
    a, b = normal(2, 3), normal(3, 5, seed=1)
    c = None if bias is None else normal(*bias, seed=2)
    want = 0.5 * (a @ b) + (0 if c is None else 2 * c)
    a, b = a.T if trans_a else a, b.T if trans_b else b
    scales = {"alpha": 0.5, "beta": 2.0}
    got = tri.Gemm(**scales, trans_a=trans_a, trans_b=trans_b).reference(a, b, c)
    np.testing.assert_allclose(got, want, 1e-5, 1e-6)


def test_gemm_of_integers_stays_integer():
    a, b = np.array([[3]], np.int32), np.array([[5]], np.int32)
    got = tri.Gemm(alpha=0.5).reference(a, b)
    assert (got.dtype, got.tolist()) == (np.int32, [[7]])


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(3, 4), (4, 5)]),
        ("bij,bjk", [(2, 3, 4), (2, 4, 5)]),
        ("ba", [(2, 3)]),
        ("ii->i", [(4, 4)]),
        ("ii", [(4, 4)]),
        ("i,i", [(3,), (3,)]),
        ("...ij,...jk->...ik", [(2, 1, 3, 4), (6, 4, 5)]),
        ("...ii->...i", [(2, 3, 3)]),
        ("i...,j->j...", [(2, 3, 4), (5,)]),
        (" a , b , c -> cab ", [(2,), (3,), (4,)]),
        ("Aa,ab->Ab", [(2, 3), (3, 4)]),
    ],
)
def test_einsum_is_what_torch_computes(equation, shapes):
    xs = [normal(*shape, seed=i) for i, shape in enumerate(shapes)]
    got = tri.Einsum(equation=equation).reference(xs)
    want = torch.einsum(equation, *map(torch.tensor, xs))
    np.testing.assert_allclose(got, want, 1e-5, 1e-6)
    assert tri.Einsum(equation=equation).infer([Tensor.of(x) for x in xs]) == Tensor.of(got)


@pytest.mark.parametrize("op", [tri.MatMul, tri.Gemm])
def test_half_types_are_summed_in_f32(op):
    y = op().reference(np.ones((1, 4096), np.float16), np.ones((4096, 1), np.float16))
    assert (y.dtype, y.item()) == (np.float16, 4096)


def f32(*shape):
    return Tensor(shape, "f32")


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (f32(2, 3), f32(4, 5), "contracts 3 with 4"),
        (f32(3), f32(4), "contracts 3 with 4"),
        (f32(), f32(4), "operands are tensor<f32> and tensor<4xf32>, must have at least one axis"),
        (f32(2, 2, 3), f32(3, 3, 4), "shapes 2 and 3 do not broadcast"),
        (Tensor((1, 1), "i1"), Tensor((1, 1), "i1"), "element type is i1, must be a number"),
    ],
)
def test_matmul_refuses_what_does_not_fit(a, b, message):
    with pytest.raises(Invalid, match=message):
        tri.MatMul().infer(a, b)


@pytest.mark.parametrize(
    ("a", "b", "c", "message"),
    [
        (f32(2, 3), f32(4, 5), None, "contracts 3 with 4"),
        (
            f32(3),
            f32(3, 5),
            None,
            "operands are tensor<3xf32> and tensor<3x5xf32>, must be matrices",
        ),
        (f32(2, 3), f32(3, 5), f32(3), "3 and 2x5 do not broadcast"),
        (f32(1, 3), f32(3, 5), f32(2, 5), "bias is tensor<2x5xf32>, must broadcast to .* 1x5"),
    ],
)
def test_gemm_refuses_what_does_not_fit(a, b, c, message):
    with pytest.raises(Invalid, match=message):
        tri.Gemm().infer(a, b, c)


@pytest.mark.parametrize(
    ("equation", "shapes", "message"),
    [
        ("ij,jk->ik", [(2, 3)], "equation names 2 inputs, there are 1"),
        ("ij,jk->ik", [(2, 3), (4, 5)], "index 'j' has size 3 and 4, must be the same"),
        ("ijk->i", [(2, 3)], "term 'ijk' names 3 axes, input has 2"),
        ("ij->ijj", [(2, 3)], "output index 'j' twice or in no input"),
        ("ij->k", [(2, 3)], "output index 'k' twice or in no input"),
        ("i1->i", [(2, 3)], "has the term 'i1', must be letters"),
    ],
)
def test_einsum_refuses_what_does_not_fit(equation, shapes, message):
    with pytest.raises(Invalid, match=message):
        tri.Einsum(equation=equation).infer([f32(*shape) for shape in shapes])


def test_an_equation_without_arrow_has_the_letters_that_occur_once():
    assert Equation.parse("...ij,jk") == Equation(("...ij", "jk"), "...ik")
