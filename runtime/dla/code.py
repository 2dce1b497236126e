"""Programs of an accelerator as a manifest describes them."""

from dataclasses import dataclass

DESCRIPTION = "dla/description.toml"
"""The entry that describes the accelerator which the steps of kind `dla` are for."""


@dataclass(frozen=True)
class DlaProgram:
    """Describe the command stream in the container `entry`, and what a run of it takes and moves.

    `sram_bytes` are those of the accelerator's memory that it uses, `sram_lower_bound` those that
    any plan needs for what is alive at once. `dram_bytes` are read from dram and written to it;
    `dram_bound` would be if no op left anything in that memory for another.
    """

    entry: str
    packets: int
    sram_bytes: int
    sram_lower_bound: int
    sram_capacity: int
    dram_bytes: int
    dram_bound: int
