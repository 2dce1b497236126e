"""Steps that copy bytes from one memory space to another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..contents import ABSENT, PROCESS, Contents
from ..errors import PackageError, RunError
from ..state import SessionState
from ..step import Run, Step


@dataclass(frozen=True, kw_only=True)
class CopyStep(Step):
    """Copy the bytes of the operand to the result, which is in another memory space."""

    kind: ClassVar[str] = "copy"

    def check(self, contents: Contents, where: str) -> None:
        if len(self.operands) != 1 or len(self.results) != 1 or ABSENT in self.operands:
            raise PackageError(f"'{where}' is a copy, must have one operand and one result")
        source, target = (contents.buffers[i] for i in (*self.operands, *self.results))
        if contents.space_of(source.base) == contents.space_of(target.base):
            space = contents.space_of(source.base)
            raise PackageError(f"'{where}' copies within memory '{space}', must copy to another")
        if any(contents.stage_of(buffer.base) for buffer in (source, target)):
            return  # `bind` compares sizes that a run finds
        if source.size_bytes != target.size_bytes:
            raise PackageError(
                f"'{where}' copies {source.size_bytes} bytes to a buffer of {target.size_bytes}"
            )

    def bind(self, state: SessionState) -> Run:
        (source,), (target,) = self.operands, self.results
        bases, size = state.bases, state.bases.size_bytes(source)
        if size != bases.size_bytes(target):
            raise RunError(f"a copy of {size} bytes is to a buffer of {bases.size_bytes(target)}")
        return lambda: state.copy(bases.place(target), bases.place(source), size)

    def queue(self, contents: Contents) -> str:
        bases = [contents.buffers[index].base for index in (*self.results, *self.operands)]
        spaces = [contents.space_of(base) for base in bases]
        return next((space for space in spaces if space != PROCESS), PROCESS)

    def operation(self, contents: Contents) -> str:
        source, target = (contents.buffers[i] for i in (*self.operands, *self.results))
        return f"{source.name} to {contents.space_of(target.base)}"

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        return ""
