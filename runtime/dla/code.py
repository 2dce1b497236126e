"""Programs of an accelerator as a manifest describes them."""

from dataclasses import dataclass

DESCRIPTION = "dla/description.toml"
"""The entry that describes the accelerator which the steps of kind `dla` are for."""


@dataclass(frozen=True)
class DlaProgram:
    """Describe the command stream in the container `entry`, its memory, and the bytes it moves.

    `sram_bytes` is the SRAM that it uses, `sram_lower_bound` the least for values live at once.
    `dram_bytes` are read from DRAM and written to it; `dram_bound` is their number if no value were
    resident in SRAM between ops.
    """

    entry: str
    packets: int
    sram_bytes: int
    sram_lower_bound: int
    sram_capacity: int
    dram_bytes: int
    dram_bound: int
