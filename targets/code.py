"""`Code`: what a target made of its part of a model, ready to be put into a package."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..dialects.core.mlir import ir
from ..dialects.core.op import Op
from ..runtime.manifest import Step
from .core import HOST_MEMORY, Target
from .program import Call, Program

NumberedCall = tuple[int, Call]
"""A call and where it stands among those of the program."""


class Buffers(Protocol):
    """Number the buffers of a package that is being put together, for the package's target."""

    program: Program
    target: Target

    def number(self, value: ir.Value, memory: str = HOST_MEMORY) -> int:
        """Return the number of a value's buffer; describes it when it is new."""
        ...

    def refusal(self, op: Op) -> str:
        """Return why an op does not run on the first target of the package; empty if it does."""
        ...


class Code:
    """Base of what each target makes of the ops that run there.

    A model is put together in this order: `call` of each op, the plan of the memory, `steps` of
    each run of calls that follow one another, then `entries` and `parts`.
    """

    def call(self, op: Op) -> Call:
        """Return the call of an op, with the memory that it needs meanwhile."""
        return Call.of(op)

    def steps(self, calls: Sequence[NumberedCall], buffers: Buffers) -> list[Step]:
        """Return the steps that make calls, in order."""
        raise NotImplementedError

    def layouts(self) -> Mapping[ir.Value, str]:
        """Say of values how they lie in memory, where that is not as the model has them."""
        return {}

    def entries(self) -> dict[str, bytes]:
        """Return the files of the package that the steps need."""
        return {}

    def parts(self, program: Program) -> dict[str, Any]:
        """Return fields of the manifest that describe the code, which a program calls."""
        return {}
