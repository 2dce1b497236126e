"""Pooling with long windows: kernels of bounded code size that compute the same results."""

import numpy as np
from closeness import assert_close
from cpu_kernels import compile_cases, on_every_machine
from groups import Case
from trivium.dialects import tri
from trivium.dialects.core.machine import Machine
from trivium.dialects.core.tensor import Tensor

X = np.random.default_rng(4).uniform(0.5, 1.5, (1, 2, 2, 31)).astype(np.float32)


def cases(taps: int) -> list[Case]:
    window = {"kernel": (2, taps), "strides": (1, 3), "pads": (0, taps - 9, 0, taps - 9)}
    plain = {**window, "dilations": (1, 1)}
    return [
        Case("max", tri.MaxPool, (X,), plain),
        Case("average", tri.AveragePool, (X,), plain),
        Case("average-of-all", tri.AveragePool, (X,), {**plain, "count_include_pad": True}),
        Case("norm", tri.LpPool, (X,), {**plain, "p": 2}),
        Case("high-norm", tri.LpPool, (X,), {**plain, "p": taps}),
    ]


@on_every_machine
def test_long_windows_give_the_results_of_the_reference(machine: Machine) -> None:
    long = cases(90)
    compiled = compile_cases(long, machine)
    for index, case in enumerate(long):
        (wanted,) = case.reference()
        (got,) = compiled.run(index, case.inputs, [Tensor.of(wanted)])
        assert_close(case, got, wanted, case.inputs)


def test_code_does_not_grow_with_the_length_of_windows() -> None:
    counts = [
        [len(k.text.splitlines()) for k in compile_cases(cases(n)).kernels] for n in (90, 900)
    ]
    assert counts[0] == counts[1]
