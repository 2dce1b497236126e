"""A package with programs for exact sizes is compiled again, program by program."""

import pytest
from trivium.compiler.driver import build
from trivium.runtime import Package, Session
from trivium.runtime.cpu.part import CpuPart
from trivium.test.unit.compiler.exact.exact_models import assert_right, feeds, model

SETS = [{"N": 1, "T": 64}, {"N": 2, "T": 3}]


def code(package: Package) -> dict[str, str]:
    """Return the checksums of all entries but IR."""
    entries = {entry.name: entry.checksum for entry in package.manifest.entries}
    return {name: each for name, each in entries.items() if not name.endswith("module.mlirbc")}


def test_all_programs_are_compiled_again() -> None:
    package = build(model(), exact=SETS)
    again = build(package, machine="x86-64-v2")
    assert [each.sizes for each in again.manifest.exact] == SETS
    for each in (again, *again.exact):
        (machine,) = each.manifest.part(CpuPart).machines
        assert machine.machine == "x86-64-v2"
    session = Session(again)
    for n, t in ((1, 64), (2, 3), (4, 4)):
        assert_right(session.run(feeds(n, t)), feeds(n, t))
    assert again.manifest.memory.weight_bytes == package.manifest.memory.weight_bytes
    assert code(build(package)) == code(package)


def test_a_package_for_a_gpu_is_compiled_again_without_a_program_for_all_sizes() -> None:
    pytest.importorskip("triton")
    package = build(model(), target="vanilla,gpu:sm_90,cpu", exact=SETS)
    again = build(package)
    assert again.manifest.only_exact
    assert code(again) == code(package)
