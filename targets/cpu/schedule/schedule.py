"""Schedules as data: by which method an op on constant weights runs, and in tiles of which size."""

import re
from dataclasses import dataclass

from ....dialects.core.attributes import from_attribute
from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op

SCHEDULE = "trivium.schedule"
"""The attribute that fixes the schedule of an op, such as "panel 14x2"."""

WINOGRAD, PACKED, PANEL = "winograd", "packed", "panel"


@dataclass(frozen=True, order=True)
class Schedule:
    """Name a method and its tile.

    - `packed 14x2`: 14 rows by 2 vectors of columns in registers. The rows of a convolution are
      outputs and its columns pixels; those of a matrix product are its own.
    - `panel 14x2`: a convolution whose rows are pixels and whose columns are outputs.
    - `winograd 4x4`: a convolution by Winograd's method, in tiles of 4 by 4 outputs.
    """

    method: str
    rows: int
    vectors: int

    def __str__(self) -> str:
        return f"{self.method} {self.rows}x{self.vectors}"

    @staticmethod
    def parse(text: str) -> "Schedule":
        """Read what `str` writes; raise Invalid for anything else."""
        methods = "|".join((WINOGRAD, PACKED, PANEL))
        found = re.fullmatch(rf"({methods}) ([1-9]\d{{0,3}})x([1-9]\d{{0,3}})", text, re.ASCII)
        if found is None:
            raise Invalid(f"schedule is '{text}', must be like 'packed 14x2' or 'winograd 2x2'")
        return Schedule(found[1], int(found[2]), int(found[3]))


def fixed_schedule(op: Op) -> Schedule | None:
    """Return the schedule that an op's attribute fixes; raise Invalid when it names none."""
    attributes = op.operation.attributes
    if SCHEDULE not in attributes:
        return None
    try:
        return Schedule.parse(from_attribute(attributes[SCHEDULE], str))
    except Invalid as error:
        raise Invalid(f"attribute '{SCHEDULE}': {error}") from None


def fix_schedule(op: Op, schedule: Schedule) -> None:
    op.operation.attributes[SCHEDULE] = ir.StringAttr.get(str(schedule))
