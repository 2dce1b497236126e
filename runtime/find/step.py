"""Steps that make numbers of a run sizes, which memory and steps from there on depend on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

import numpy as np

from ..contents import Contents
from ..errors import PackageError, RunError
from ..kinds import LEFT_OUT
from ..loader import Loader
from ..sizes.fields import with_sizes
from ..sizes.size_expressions import Size
from ..spelling import count
from ..state import SessionState
from ..step import Bind, Run, Step, Store


@dataclass(frozen=True, kw_only=True)
class FindStep(Step):
    """Copy whole numbers as i64, and find sizes among them; each is at most its limit, if any."""

    kind: ClassVar[str] = "find"
    finds_sizes: ClassVar[bool] = True

    limits: tuple[Size, ...] = field(default=(), metadata=LEFT_OUT)

    def check(self, contents: Contents, where: str) -> None:
        if len(self.operands) != 1 or len(self.results) != 1 or not self.finds:
            raise PackageError(f"'{where}' must have an operand, a result, and sizes to find")
        super().check(contents, where)

    def load(self, loader: Loader) -> Bind:
        return self._at

    def _at(self, state: SessionState) -> Run:
        step = with_sizes(self, state.values)
        return cast("Run", lambda: step._find(state))

    def _find(self, state: SessionState) -> tuple[dict[str, int], Store]:
        values = state.bases.view(self.operands[0]).astype(np.int64)
        numbers = values.reshape(-1).tolist()
        for value, limit in zip(numbers, self.limits, strict=False):
            if value > limit:
                nodes = ", ".join(self.nodes)
                raise RunError(f"{nodes}: error: finds size {value}, must be at most {limit}")
        sizes = {each.symbol: numbers[each.index] for each in self.finds}
        return sizes, lambda state: np.copyto(state.bases.view(self.results[0]), values)

    def operation(self, contents: Contents) -> str:
        return "sizes"

    @classmethod
    def summary(cls, steps: Sequence[Step]) -> str:
        return f"sizes found {count(len(steps), 'time')}"
