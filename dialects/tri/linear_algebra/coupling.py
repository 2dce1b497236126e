"""Probabilities of classes by those of pairs of classes."""

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need_same
from ...core.tensor import Array, Tensor
from ..dialect import TriOp
from ..numeric import need_float

STEPS = 100
TOLERANCE = 0.005


class CouplePairs(TriOp):
    """Compute the probabilities of K classes from those of pairs, [N, K, K] to [N, K].

    Element i, j of `pairs` is the probability of class i if it is i or j; the diagonal has no
    meaning. Probabilities p minimise the sum over i and j of the squares of
    `pairs[j, i] p[i] - pairs[i, j] p[j]`. An iteration from equal ones ends, for each row alone,
    when no equation is off by more than 0.005 / K, or after 100 steps. Source: T.-F. Wu, C.-J. Lin,
    R. C. Weng, "Probability estimates for multi-class classification by pairwise coupling", 2004,
    algorithm 2, with the end that LIBSVM gives it.
    """

    pairs: Operand
    y: Result

    def infer(self, pairs: Tensor) -> Tensor:
        need_float(pairs)
        fault = f"pairs are {pairs}, must have one square matrix for each row"
        if pairs.rank != 3 or not pairs.shape[2]:
            raise Invalid(fault)
        need_same(pairs.shape[1], pairs.shape[2], fault)
        return Tensor(pairs.shape[:2], pairs.dtype)

    def reference(self, pairs: Array) -> Array:
        wide = widen(pairs)
        factors = _factors(wide)
        p = np.full(wide.shape[:2], 1 / wide.shape[1], wide.dtype)
        running = np.arange(len(p))
        for _ in range(STEPS):
            products = np.einsum("nij,nj->ni", factors[running], p[running])
            total = (p[running] * products).sum(1, keepdims=True)
            error = np.abs(products - total).max(1, initial=0)
            going = error >= np.asarray(TOLERANCE / wide.shape[1], wide.dtype)
            running, products, total = running[going], products[going], total[going, 0]
            if not running.size:
                break
            p[running] = _improved(factors[running], p[running], products, total)
        return narrow(p, pairs)


def _factors(pairs: Array) -> Array:
    """Return the matrices of the equations: Q of the paper."""
    turned = pairs.transpose(0, 2, 1)
    factors = -turned * pairs
    classes = [*range(pairs.shape[1])]
    squares = turned * turned
    squares[:, classes, classes] = 0
    factors[:, classes, classes] = squares.sum(2)
    return factors


def _improved(factors: Array, p: Array, products: Array, total: Array) -> Array:
    """Solve the equation of each class in turn, and scale what comes out to a sum of one."""
    for t in range(p.shape[1]):
        own = factors[:, t, t]
        step = (total - products[:, t]) / own
        p[:, t] += step
        whole = 1 + step
        total = (total + step * (step * own + 2 * products[:, t])) / whole / whole
        products = (products + step[:, None] * factors[:, t]) / whole[:, None]
        p = p / whole[:, None]
    return p
