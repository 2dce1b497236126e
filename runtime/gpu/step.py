"""Steps of GPUs: launches of kernels, as one graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..contents import Contents
from ..spelling import count
from ..state import SessionState
from ..step import Run, Step
from .array import SPACE
from .checks import check_launches
from .code import LaunchStep
from .part import GpuPart
from .workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class GpuStep(LaunchStep):
    """Run the launches in order, as one graph."""

    kind: ClassVar[str] = "gpu"
    space: ClassVar[str] = SPACE

    def check(self, contents: Contents, where: str) -> None:
        codes = contents.part(GpuPart).codes
        check_launches(self.launches, codes, contents, self.space, where)

    def bind(self, state: SessionState) -> Run:
        workspace = state.spaces[self.space]
        assert isinstance(workspace, Workspace)
        return workspace.bind(self.launches, state)

    def operation(self, contents: Contents) -> str:
        return _launches([self])

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        return f"{_launches(steps)} on the GPU"


def _launches(steps: Sequence[Step]) -> str:
    number = sum(len(step.launches) for step in steps if isinstance(step, LaunchStep))
    return count(number, "launch", "launches")
