"""Steps that do one of two bodies."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..contents import ABSENT, Contents
from ..errors import PackageError, RunError
from ..loader import Loader
from ..nested import Body, bind_body, check_moves, check_sizes, copy_spans, locate
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
            bases = state.bases
            for body in self.bodies:
                check_sizes(bases, body.moves)
            pairs = zip(self.bodies, binds, strict=True)
            bound = [bind_body(contents, body.steps, each, state) for body, each in pairs]
            moves = [locate(bases, body.moves) for body in self.bodies]
            condition = bases.locator(self.operands[0])

            def run() -> None:
                chosen = 0 if ctypes.c_ubyte.from_address(condition()).value else 1
                if self.bodies[chosen].fault:
                    raise self._fault(self.bodies[chosen])
                for step in bound[chosen]:
                    step()
                copy_spans(moves[chosen]())

            return run

        return bind

    def _fault(self, body: Body) -> RunError:
        nodes = ", ".join(self.nodes)
        return RunError(f"{nodes}: the branch that this run takes cannot run: {body.fault}")

    def operation(self, contents: Contents) -> str:
        return f"one of {len(self.then.steps)} or {len(self.otherwise.steps)} steps"

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        return f"{len(steps)} branch{'es' * (len(steps) != 1)}"
