"""`CompiledPart`: what a target made of its part of a model, ready to be packaged."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from ..dialects.core.mlir import ir
from ..dialects.core.op import Op
from ..runtime.contents import PROCESS, Part
from ..runtime.step import Step
from .program.calls import Call, NumberedCall
from .program.program import Program


class Buffers(Protocol):
    """Number the buffers of a package that is being assembled."""

    program: Program

    def number(self, value: ir.Value, memory: str = PROCESS) -> int:
        """Return the number of a value's buffer; describes it when it is new."""
        ...

    def body(self, block: ir.Block) -> tuple[Step, ...]:
        """Return the steps of a body of a branch or a loop."""
        ...

    def refusal(self, op: Op) -> str:
        """Return why an op does not run on the first target of the package; empty if it does."""
        ...


class CompiledPart:
    """Base of what each target makes of the ops that run there.

    A model is assembled in this order: `call` of each op, the plan of the memory, `steps` of
    each run of calls that follow one another, then `entries` and `part`.
    """

    def call(self, op: Op) -> Call:
        """Return the call of an op, with its scratch memory."""
        return Call.of(op)

    def steps(self, calls: Sequence[NumberedCall], buffers: Buffers) -> Sequence[Step]:
        """Return the steps that make calls, in order."""
        raise NotImplementedError

    def layouts(self) -> Mapping[ir.Value, str]:
        """Return the layouts of values in memory, where these are not the model's."""
        return {}

    def entries(self) -> dict[str, bytes]:
        """Return the files of the package that the steps need."""
        return {}

    def part(self, program: Program) -> Part | None:
        """Return the part of the manifest that describes the code, if any."""
        return None
