import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.tensor import Tensor

torch = pytest.importorskip("torch")

X = np.random.default_rng(0).standard_normal((3, 4, 5)).astype(np.float32) * 30


@pytest.mark.parametrize("axis", [-3, -1, 0, 1])
def test_softmax_and_its_logarithm_are_what_torch_computes(axis):
    x = torch.tensor(X)
    np.testing.assert_allclose(tri.Softmax(axis=axis).reference(X), x.softmax(axis), 1e-5, 1e-30)
    np.testing.assert_allclose(tri.LogSoftmax(axis=axis).reference(X), x.log_softmax(axis), 1e-5)


def test_hardmax_marks_the_first_of_equal_maxima():
    x = np.array([[1, 3, 3], [2, 1, 2]], np.float16)
    assert tri.Hardmax().reference(x).tolist() == [[0, 1, 0], [1, 0, 0]]


@pytest.mark.parametrize("op", [tri.Softmax, tri.LogSoftmax, tri.Hardmax])
def test_scores_that_would_overflow_do_not(op):
    y = op().reference(np.array([6e4, 6e4, 5e4], np.float16))
    assert y.dtype == np.float16
    assert np.isfinite(y).all()


def test_an_empty_axis_stays_empty():
    assert tri.Softmax().reference(np.zeros((2, 0), np.float32)).shape == (2, 0)


@pytest.mark.parametrize("op", [tri.Softmax, tri.LogSoftmax, tri.Hardmax])
def test_integers_and_missing_axes_are_refused(op):
    with pytest.raises(Invalid, match="element type is i32, must be a float"):
        op(axis=0).infer(Tensor((2,), "i32"))
    with pytest.raises(Invalid, match=r"axis 1 is outside \[-1, 1\)"):
        op(axis=1).infer(Tensor((2,), "f32"))
