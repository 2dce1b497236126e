"""Texts about what a package has for accelerators."""

from collections.abc import Iterator

from ..runtime.manifest import DlaProgram, Manifest
from .spelling import columns, count, section, spell_size


def dla_sections(manifest: Manifest) -> Iterator[str]:
    """Describe the programs of accelerators, and the schedules for them that did not fit."""
    rows = [row for program in manifest.dla for row in _rows(program)]
    yield section("on accelerators", columns(rows, "") if rows else [])
    yield section("schedules that did not fit", manifest.attempts)


def _rows(program: DlaProgram) -> list[tuple[str, str, str]]:
    sram = f"{spell_size(program.sram_bytes)} of {spell_size(program.sram_capacity)}"
    least = f"{spell_size(program.sram_lower_bound)} live at once"
    moved, alone = spell_size(program.dram_bytes), spell_size(program.dram_bound)
    return [
        (program.entry, "stream", count(program.packets, "packet")),
        ("", "sram", f"{sram}, {least}"),
        ("", "dram", f"{moved} moved, {alone} if each op went by itself"),
    ]
