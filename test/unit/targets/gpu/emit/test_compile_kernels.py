"""Kernels are compiled with settings until one fits; those that do not are explained."""

from collections.abc import Callable
from pathlib import Path

import pytest
from products import FLAT, LARGE, MIDDLE, SMALL, product_kernel
from sources import needs_triton
from trivium.dialects import tile
from trivium.dialects.core.errors import CompileError
from trivium.dialects.tile.setting import Setting
from trivium.targets.gpu.emit import compile_kernels as module
from trivium.targets.gpu.emit import resources as resources_module
from trivium.targets.gpu.emit.compile_kernels import CompiledKernel, compile_kernels, fitted_source
from trivium.targets.gpu.emit.compile_sources import Compiled
from trivium.targets.gpu.emit.resources import Resources
from trivium.targets.gpu.schedule.architecture import Architecture, find_architecture
from trivium.targets.gpu.schedule.tuning_file import tuning_format
from trivium.targets.options import CompileOptions
from trivium.targets.tuning_file import Entry

HOPPER = find_architecture("sm_90")

pytestmark = needs_triton


def compiled(kernel: tile.Kernel, **options: object) -> CompiledKernel:
    (found,) = compile_kernels([kernel], HOPPER, CompileOptions(**options)).values()  # type: ignore[arg-type]
    return found


def refuse(monkeypatch: pytest.MonkeyPatch, bad: Callable[[Compiled], bool]) -> None:
    """Reject code that is `bad`."""

    def rejection(compiled: Compiled, architecture: Architecture) -> str | None:
        return "it is bad" if bad(compiled) else None

    monkeypatch.setattr(module, "rejection", rejection)
    monkeypatch.setattr(module, "exceeded_limit", lambda compiled, architecture: "it is bad")


def test_a_setting_whose_code_does_not_fit_makes_way(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, lambda compiled: compiled.warps == 4)
    with product_kernel(256, 256, 256) as kernel:
        kernel.use(MIDDLE)
        kernel.set_attributes({"candidates": (str(SMALL), str(LARGE))})
        assert compiled(kernel).chosen.setting == LARGE
        assert kernel.setting == MIDDLE


def test_when_nothing_fits_the_first_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    refuse(monkeypatch, lambda compiled: not tried.append(compiled.shared_bytes))
    with product_kernel(256, 256, 256) as kernel:
        kernel.use(MIDDLE)
        kernel.set_attributes({"candidates": ()})
        name = kernel.sym_name
        with pytest.raises(CompileError) as caught:
            compiled(kernel)
    assert str(caught.value) == f"error: kernel '{name}' does not fit sm_90: it is bad"
    # Of four stages, each of 16 KiB, fewer and fewer are tried.
    assert [size >> 14 for size in tried] == [4, 3, 2, 1]


def test_when_all_settings_spill_the_code_that_spills_the_least_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (SMALL.warps, MIDDLE.warps, LARGE.warps) == (4, 4, 8)

    def read(compiled: Compiled, architecture: Architecture) -> Resources:
        return Resources(255, 100 if compiled.warps == 8 else 300)

    monkeypatch.setattr(resources_module, "resources", read)
    monkeypatch.setattr(module, "resources", read)
    with product_kernel(256, 256, 256) as kernel:
        kernel.use(MIDDLE)
        kernel.set_attributes({"candidates": (str(SMALL), str(LARGE))})
        assert compiled(kernel).chosen.setting == LARGE


def test_candidates_are_compiled_when_they_are_asked_for() -> None:
    with product_kernel(256, 256, 256) as kernel:
        kernel.use(MIDDLE)
        kernel.set_attributes({"candidates": (str(SMALL), str(LARGE), str(MIDDLE))})
        assert compiled(kernel).candidates == ()
        found = compiled(kernel, candidates=True)
    assert found.chosen.setting == MIDDLE
    assert {c.setting for c in found.candidates} == {SMALL, LARGE}
    assert {c.source.constexprs[0] for c in found.candidates} == {("BM", 32), ("BM", 128)}
    assert len({c.compiled.code for c in (found.chosen, *found.candidates)}) == 3


def test_tuned_settings_are_compiled(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    with product_kernel(256, 256, 256) as kernel:
        entry = Entry[Setting].of({FLAT: 1.0, SMALL: 2.0})
        tuning_format("sm_90").write(str(file), {kernel.sym_name: entry})
        found = compiled(kernel, tuning=str(file))
        assert found.chosen.setting == FLAT
        assert found.entry == entry
        (other,) = compile_kernels(
            [kernel], find_architecture("sm_80"), CompileOptions(tuning=str(file))
        ).values()
        assert other.chosen.setting == kernel.setting
        assert other.entry is None


def test_checks_of_bounds_are_dropped_for_each_setting() -> None:
    """Blocks of 64 cover 192 rows exactly, blocks of 128 reach beyond."""
    with product_kernel(192, 192, 192) as kernel:
        architecture = find_architecture("sm_80")
        exact, beyond = (fitted_source(kernel, s, architecture).text for s in (MIDDLE, LARGE))
    assert "mask" not in exact
    assert "mask" in beyond
