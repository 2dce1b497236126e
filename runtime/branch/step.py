"""Steps that do one of two bodies."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..contents import ABSENT, Contents
from ..errors import PackageError, RunError
from ..loader import Loader
from ..nested import Body, bind_body, check_moves, check_sizes, copy_spans, spans_of
from ..state import SessionState
from ..step import Bind, Run, Step


@dataclass(frozen=True, kw_only=True)
class BranchStep(Step):
    """Do `then` if the number of the first operand is not 0, and `otherwise` if it is.

    What the branch did not write where the results are, its moves copy there.
    """

    kind: ClassVar[str] = "branch"
    lists_buffers: ClassVar[bool] = False

    then: Body
    otherwise: Body

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.then, self.otherwise

    def inner(self) -> Mapping[str, tuple[Step, ...]]:
        return {"then.steps": self.then.steps, "otherwise.steps": self.otherwise.steps}

    def check(self, contents: Contents, where: str) -> None:
        super().check(contents, where)
        if not self.operands or self.operands[0] == ABSENT:
            raise PackageError(f"'{where}' is a branch, must have a condition")
        if (size := contents.buffers[self.operands[0]].size_bytes) != 1:
            raise PackageError(f"'{where}' has a condition of {size} bytes, must be of 1")
        for name, body in (("then", self.then), ("otherwise", self.otherwise)):
            check_moves(body.moves, contents, f"{where}.{name}.moves")

    def load(self, loader: Loader) -> Bind:
        binds = [[step.load(loader) for step in body.steps] for body in self.bodies]
        contents = loader.contents

        def bind(state: SessionState) -> Run:
            for body in self.bodies:
                check_sizes(state.bases, body.moves)
            pairs = zip(self.bodies, binds, strict=True)
            bound = [bind_body(contents, body.steps, each, state) for body, each in pairs]
            return lambda: self._run(state, bound)

        return bind

    def _run(self, state: SessionState, bound: Sequence[Sequence[Run]]) -> None:
        address = state.bases.place(self.operands[0]).address
        chosen = 0 if ctypes.c_ubyte.from_address(address).value else 1
        if fault := self.bodies[chosen].fault:
            nodes = ", ".join(self.nodes)
            raise RunError(f"{nodes}: the branch that this run takes cannot run: {fault}")
        for run in bound[chosen]:
            run()
        copy_spans(spans_of(state.bases, self.bodies[chosen].moves))

    def operation(self, contents: Contents) -> str:
        return f"one of {len(self.then.steps)} or {len(self.otherwise.steps)} steps"

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        return f"{len(steps)} branch{'es' * (len(steps) != 1)}"
