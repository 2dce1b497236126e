"""The table of machines."""

import re
from itertools import pairwise

import pytest
from trivium.dialects.core import machine
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.machine import LEVELS, find_machine, host_machine, machine_names
from trivium.targets.options import CompileOptions


def test_each_level_has_what_those_before_have_and_more() -> None:
    for lower, higher in pairwise(LEVELS):
        assert set(lower.features) < set(higher.features)
        assert lower.vector_bytes <= higher.vector_bytes


def test_vectors_and_registers_of_the_levels() -> None:
    shapes = {m.name: (m.vector_bytes, m.registers, m.lanes(32), m.fuses) for m in LEVELS}
    assert shapes == {
        "x86-64": (16, 16, 4, False),
        "x86-64-v2": (16, 16, 4, False),
        "x86-64-v3": (32, 16, 8, True),
        "x86-64-v4": (64, 32, 16, True),
    }


def test_machines_are_found_by_name() -> None:
    assert [find_machine(name).name for name in machine_names()] == list(machine_names())
    assert find_machine("native") == host_machine()


def test_names_are_checked_where_no_cpu_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "host_machine", None)
    assert machine.checked_names("native") == ("native",)
    assert machine.checked_names(["x86-64", "native"]) == ("x86-64", "native")
    assert CompileOptions().machine == "native"


def test_a_name_that_is_none_is_refused_with_those_that_are() -> None:
    names = "native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4"
    message = re.escape(f"no machine is called 'x86-64-v5', there are: {names}")
    with pytest.raises(CompileError, match=message):
        find_machine("x86-64-v5")
