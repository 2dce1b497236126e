"""The part of a manifest that describes programs of an accelerator."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..contents import Contents, Part
from ..kinds import Kind
from ..report import EntryKind
from .code import DlaProgram
from .report import DlaReport


@dataclass(frozen=True)
class DlaPart(Part):
    """Describe the programs of an accelerator; `attempts` list the failed scheduling attempts."""

    kind: ClassVar[str] = "dla"

    programs: tuple[DlaProgram, ...] = ()
    attempts: tuple[str, ...] = ()

    def entry_kinds(self, contents: Contents) -> Iterable[EntryKind]:
        streams = {program.entry for program in self.programs}
        yield EntryKind("constants and code for accelerators", streams, "container")

    def report(self, contents: Contents, steps: Sequence[Kind]) -> DlaReport:
        return DlaReport.of(self.programs, self.attempts)
