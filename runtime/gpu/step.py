"""Steps of GPUs: launches of kernels, as one graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..contents import Contents
from ..state import SessionState
from ..step import Run, Step
from .array import SPACE
from .checks import check_launches
from .code import Launch
from .part import GpuPart
from .workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class GpuStep(Step):
    """Run the launches in order, as one graph."""

    kind: ClassVar[str] = "gpu"
    space: ClassVar[str] = SPACE

    launches: tuple[Launch, ...]

    def check(self, contents: Contents, where: str) -> None:
        codes = contents.part(GpuPart).codes
        check_launches(self.launches, codes, contents, self.space, where)

    def bind(self, state: SessionState) -> Run:
        workspace = state.spaces[self.space]
        assert isinstance(workspace, Workspace)
        return workspace.bind(self.launches)

    def operation(self, contents: Contents) -> str:
        launches = len(self.launches)
        return "1 launch" if launches == 1 else f"{launches} launches"

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        launches = sum(len(step.launches) for step in steps if isinstance(step, GpuStep))
        return f"{launches} launch{'es' * (launches != 1)} on the GPU"
