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


@on_every_machine
def test_the_only_window_is_cut_at_the_end_of_the_input(machine: Machine) -> None:
    cut = {"kernel": (3, 2), "strides": (2, 2), "pads": (0, 0, 0, 0), "dilations": (1, 1)}
    padded = cut | {"kernel": (4, 2), "pads": (0, 0, 1, 0)}
    short = [
        Case("max", tri.MaxPool, (X,), cut),
        Case("places", tri.MaxPoolIndices, (X,), cut),
        Case("average", tri.AveragePool, (X,), cut),
        Case("average-of-all", tri.AveragePool, (X,), {**padded, "count_include_pad": True}),
        Case("norm", tri.LpPool, (X,), {**padded, "p": 2}),
    ]
    compiled = compile_cases(short, machine)
    for index, case in enumerate(short):
        wanted = case.reference()
        got = compiled.run(index, case.inputs, [Tensor.of(each) for each in wanted])
        for made, expected in zip(got, wanted, strict=True):
            assert made.shape[2] == 1
            assert_close(case, made, expected, case.inputs)
