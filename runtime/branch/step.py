"""Steps that do one of two bodies."""

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..binding import BodyRun, body_run
from ..contents import ABSENT, Contents
from ..errors import PackageError, RunError
from ..loader import Loader
from ..nested import Body, check_moves, check_ranks, copy_spans, mover, spans_of
from ..state import SessionState
from ..step import AFTER, END, Bind, Run, Step, Store, Use


@dataclass(frozen=True, kw_only=True)
class BranchStep(Step):
    """Do `then` if the number of the first operand is not 0, and `otherwise` if it is.

    What the branch did not write where the results are, its moves copy there.
    """

    kind: ClassVar[str] = "branch"
    lists_buffers: ClassVar[bool] = False
    finds_sizes: ClassVar[bool] = True

    then: Body
    otherwise: Body

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.then, self.otherwise

    def inner(self) -> Mapping[str, tuple[Step, ...]]:
        return {"then.steps": self.then.steps, "otherwise.steps": self.otherwise.steps}

    def uses(self) -> Iterator[Use]:
        for name, body in zip(self.inner(), self.bodies, strict=True):
            for move in body.moves:
                yield Use(move.source, END, name)
                yield Use(move.target, AFTER)

    def check(self, contents: Contents, where: str) -> None:
        super().check(contents, where)
        if not self.operands or self.operands[0] == ABSENT:
            raise PackageError(f"'{where}' is a branch, must have a condition")
        if (size := contents.buffers[self.operands[0]].size_bytes) != 1:
            raise PackageError(f"'{where}' has a condition of {size} bytes, must be of 1")
        found = [self.results[each.result] for each in self.finds]
        for name, body in (("then", self.then), ("otherwise", self.otherwise)):
            check_moves(body.moves, contents, f"{where}.{name}.moves", found)
            for move in body.moves:
                if move.target in found:
                    check_ranks((move.source, move.target), contents, f"{where}.{name}.moves")
            if not body.fault and not {move.target for move in body.moves} >= {*found}:
                raise PackageError(f"'{where}.{name}' does not move the results {found}")

    def load(self, loader: Loader) -> Bind:
        binds = [[step.load(loader) for step in body.steps] for body in self.bodies]

        def bind(state: SessionState) -> Run:
            bound: dict[int, Callable[[], Any]] = {}  # one that is not taken may not fit the sizes
            condition = state.bases.locator(self.operands[0])

            def run() -> Any:
                chosen = 0 if ctypes.c_ubyte.from_address(condition()).value else 1
                if chosen not in bound:
                    body = self.bodies[chosen]
                    if body.fault:
                        raise self._fault(body)
                    begun = body_run(loader.contents, body.steps, binds[chosen], state)
                    bound[chosen] = self._bound(body, begun, state)
                return bound[chosen]()

            return run

        return bind

    def _bound(self, body: Body, run: BodyRun, state: SessionState) -> Callable[[], Any]:
        """Return what does a body, and then moves or finds what it returns."""
        if self.finds:
            return lambda: self._find(body, run())
        move = mover(body, state)
        return lambda: move(run())

    def _find(self, body: Body, end: SessionState) -> tuple[dict[str, int], Store]:
        """Return the sizes of what a branch made, and what copies it to the results."""
        sources = {move.target: move.source for move in body.moves}
        sizes = {
            each.symbol: end.bases.shape(sources[self.results[each.result]])[each.index]
            for each in self.finds
        }
        return sizes, lambda after: copy_spans(spans_of(body.moves, end.bases, after.bases))

    def _fault(self, body: Body) -> RunError:
        nodes = ", ".join(self.nodes)
        return RunError(f"{nodes}: the branch that this run takes cannot run: {body.fault}")

    def operation(self, contents: Contents) -> str:
        return f"one of {len(self.then.steps)} or {len(self.otherwise.steps)} steps"

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        return f"{len(steps)} branch{'es' * (len(steps) != 1)}"
