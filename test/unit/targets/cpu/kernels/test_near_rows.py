"""Products of more rows than caches hold: all panels go over some of them before others."""

import numpy as np
import pytest
from cpu_kernels import compile_groups, on_every_machine
from groups import Case, build_group
from trivium.dialects import cpu, tri
from trivium.dialects.core.machine import Machine
from trivium.dialects.core.tensor import Array, Tensor
from trivium.dialects.cpu.packing import pack_columns
from trivium.targets.cpu.schedule import tiles

RANDOM = np.random.default_rng(37)

SHAPES = [(61, 100, 70), (57, 64, 32), (300, 33, 40), (29, 300, 33), (28, 5, 64)]
"""Rows, depth and columns: whole blocks of rows and rests, a rest of one row, panels and rests."""


@pytest.fixture
def small_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "SHARE", 4096)
    monkeypatch.setattr(tiles, "LEAST_NEAR", 20)


@on_every_machine
@pytest.mark.usefixtures("small_share")
def test_products_and_what_follows_are_those_of_numpy(machine: Machine) -> None:
    made: list[tuple[Case, Array, Array]] = []
    for rows, depth, columns in SHAPES:
        a, b, other = (
            RANDOM.standard_normal(shape, np.float32)
            for shape in ((rows, depth), (depth, columns), (rows, columns))
        )
        case = Case("", cpu.PackedMatMul, (a, pack_columns(b, 32)), {"columns": columns})
        made.append((case, other, a.astype(np.float64) @ b - other))
    groups = [
        lambda case=case, other=other: build_group(case, [other], lambda v: [tri.Sub.build(*v)])
        for case, other, _ in made
    ]
    compiled = compile_groups(groups, machine)
    for index, (case, other, want) in enumerate(made):
        (got,) = compiled.run(index, [*case.inputs, other], [Tensor.of(other)])
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize(
    ("rows", "row_bytes", "near"),
    [(512, 8192, 0), (513, 8192, 512), (1024, 22528, 186), (512, 1 << 20, 128)],
)
def test_rows_of_more_bytes_than_a_share_are_cut(rows: int, row_bytes: int, near: int) -> None:
    assert tiles.rows_near(rows, row_bytes) == near
