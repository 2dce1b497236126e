"""Causal attention against torch: blocks of queries pass over the keys that none of them sees."""

import numpy as np
import pytest
import torch
from cpu_kernels import Compiled, compile_cases, on_every_machine
from groups import Case
from torch.nn.functional import scaled_dot_product_attention
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.tensor import Array, Tensor

SHAPES = [(1, 1), (2, 1), (1, 9), (16, 16), (43, 43), (64, 33), (97, 200), (200, 97), (130, 131)]
"""Queries and keys: one block or several, with and without rests of vectors and of panels."""

DEPTH, SIZE = 24, 19


def case(queries: int, keys: int, causal: bool = True) -> Case:
    random = np.random.default_rng(queries * 1000 + keys)
    q, k, v = (
        random.standard_normal((2, heads, *shape), np.float32)
        for heads, shape in ((4, (queries, DEPTH)), (2, (keys, DEPTH)), (2, (keys, SIZE)))
    )
    return Case("attention", tri.Attention, (q, k, v, []), {"scale": 0.3, "causal": causal})


def expected(made: Case) -> Array:
    q, k, v = (torch.from_numpy(np.asarray(x)).double() for x in made.inputs)
    k, v = (x.repeat_interleave(2, 1) for x in (k, v))
    return scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3).numpy()


def result(compiled: Compiled, index: int, inputs: list[Array]) -> Array:
    shape = (*inputs[0].shape[:-1], SIZE)
    (got,) = compiled.run(index, inputs, [Tensor(shape, "f32")])
    return got


@on_every_machine
def test_results_are_those_of_torch(machine: Machine) -> None:
    made = [case(*shape) for shape in SHAPES]
    compiled = compile_cases(made, machine)
    for index, each in enumerate(made):
        got = result(compiled, index, [*each.inputs])
        np.testing.assert_allclose(got, expected(each), rtol=1e-5, atol=1e-6, err_msg=f"{index}")


@pytest.mark.parametrize("causal", [True, False])
def test_keys_behind_all_queries_of_a_block_are_not_multiplied(causal: bool) -> None:
    """A weight of zero times an infinite value is NaN, if it is multiplied."""
    made = case(200, 200, causal)
    q, k, v = (np.array(x) for x in made.inputs)
    v[:, :, -1] = np.inf
    got = result(compile_cases([made], host_machine()), 0, [q, k, v])
    assert np.isfinite(got[:, :, :100]).all() == causal
    assert not np.isfinite(got[:, :, -1]).any()
