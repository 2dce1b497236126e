"""Tables of bytes: every byte, in registers and in memory, in vectors and alone."""

from collections.abc import Sequence

import numpy as np
import pytest
from cpu_kernels import compile_cases, compile_groups
from groups import Case, build_group
from trivium.dialects import cpu, tri
from trivium.dialects.core.machine import find_machine
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Array, Tensor

RANDOM = np.random.default_rng(41)
MACHINES = ("native", "x86-64-v4", "x86-64-v3")
TYPES = {"ui8": np.uint8, "i8": np.int8}


def all_bytes(dtype: str, *more: int) -> Array:
    """Return every byte in any order, so often that vectors leave a rest."""
    return np.resize(RANDOM.permutation(256).astype(np.uint8), (300, *more)).view(TYPES[dtype])


@pytest.mark.parametrize("machine", MACHINES)
def test_each_byte_becomes_its_entry(machine: str) -> None:
    cases, wanted = [], []
    for source in TYPES:
        for to, dtype in TYPES.items():
            table = RANDOM.permutation(256).astype(np.uint8).view(dtype)
            more = {"table": tuple(map(int, table)), "to": to}
            for x in (all_bytes(source), all_bytes(source, 1), all_bytes(source, 3)[::-1].copy()):
                cases.append(Case("table", cpu.LookUp, (x,), more))
                wanted.append([table[int(byte)] for byte in x.reshape(-1).view(np.uint8)])
    compiled = compile_cases(cases, find_machine(machine))
    for number, (case, numbers) in enumerate(zip(cases, wanted, strict=True)):
        (reference,) = case.reference()
        (got,) = compiled.run(number, case.inputs, [Tensor.of(reference)])
        assert got.reshape(-1).tolist() == numbers
        assert reference.reshape(-1).tolist() == numbers


@pytest.mark.parametrize("machine", MACHINES)
def test_floats_become_bytes_before(machine: str) -> None:
    """Vectors have as many bytes as f32 fit in one; two equal tables, and another one."""
    x = RANDOM.uniform(-20, 280, 333).astype(np.float32)
    tables = [RANDOM.permutation(256).astype(np.uint8) for _ in range(2)]
    case = Case("bytes", cpu.Quantize, (x,), {"zero": 0, "low": 0, "high": 255, "to": "ui8"})

    def following(values: Sequence[ir.Value]) -> list[Op]:
        made: list[Op] = []
        for table in (tables[0], tables[1], tables[0]):
            last = made[-1].results[0] if made else values[0]
            made.append(cpu.LookUp.build(last, table=tuple(map(int, table)), to="ui8"))
        return [*made, tri.Cast.build(made[-1].results[0], to="f32")]

    compiled = compile_groups(
        [lambda: build_group(case, epilogue=following)], find_machine(machine)
    )
    (got,) = compiled.run(0, case.inputs, [Tensor((333,), "f32")])
    rounded = np.clip(np.rint(x), 0, 255).astype(int)
    assert got.tolist() == tables[0][tables[1][tables[0][rounded]]].tolist()
