"""Sessions that run on a GPU, which is a stand-in here."""

import numpy as np
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.conftest import WEIGHTS
from trivium.test.unit.runtime.gpu.stand_in import StandIn

X = np.linspace(-20, 20, 32, dtype=np.float32).reshape(4, 8)


def expected(x: np.ndarray, w: np.ndarray = WEIGHTS) -> np.ndarray:
    return np.maximum(x + w, 0)


def test_a_package_runs(session: Session, stand_in: StandIn):
    np.testing.assert_array_equal(session(X), expected(X))
    np.testing.assert_array_equal(session.run({"x": 2 * X})["y"], expected(2 * X))
