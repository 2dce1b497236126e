"""How close the outputs of quantised models are to those of the model in floats."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...dialects.core.errors import CompileError
from ...dialects.core.module import Module
from ...passes.quantize.quantize import quantize_by
from ...passes.quantize.scale_table import ScaleTable
from ..build import Progress
from .closeness import Closeness, closeness
from .observe import Feed, Run
from .switches import switched
from .variants import compiled, copied


@dataclass(frozen=True)
class Subject:
    """Hold a model in floats, how it is to be quantised, and what it is run on."""

    module: Module
    table: ScaleTable
    feeds: Sequence[Feed]
    per_tensor: bool
    progress: Progress

    def table_without(self, floats: Collection[str]) -> ScaleTable:
        """Return the table without some values, which stay floats."""
        rest = {name: scale for name, scale in self.table.values.items() if name not in floats}
        return replace(self.table, values=rest)


class Judge:
    """Compare outputs with those of one run; raise CompileError where none is of floats."""

    def __init__(self, feeds: Sequence[Feed], run: Run) -> None:
        self._feeds = feeds
        self._expected = [run(feed) for feed in feeds]
        self._names = [n for n, array in self._expected[0].items() if array.dtype.kind == "f"]
        if not self._names:
            raise CompileError("no output is of floats, so there is nothing to compare")

    def compare(self, run: Run) -> dict[str, Closeness]:
        """Say of each output how close it is on all feeds."""
        pairs = [(want, run(feed)) for feed, want in zip(self._feeds, self._expected, strict=True)]
        return {name: closeness((x[name], q[name]) for x, q in pairs) for name in self._names}


class Choices:
    """Round any choice of values, in one model that has switches: no compilation for each."""

    def __init__(self, subject: Subject) -> None:
        made, self._switches = switched(subject.module, subject.table, subject.per_tensor)
        self._session = compiled(made, subject.progress)
        self._judge = Judge(subject.feeds, self._rounding(()))

    def outputs(self, rounded: Collection[str]) -> dict[str, Closeness]:
        """Say how close the outputs are when these values are rounded, and no others."""
        return self._judge.compare(self._rounding(rounded))

    def _rounding(self, rounded: Collection[str]) -> Run:
        switches = {key: np.array(name in rounded) for name, key in self._switches.items()}
        return lambda feed: self._session.run({**feed, **switches})


class Wholes:
    """Quantise and compile as a user would, for each choice of values that stay floats."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        session = compiled(copied(subject.module), subject.progress)
        self._judge = Judge(subject.feeds, session.run)

    def outputs(self, floats: Collection[str]) -> dict[str, Closeness]:
        """Say how close the outputs are when these values stay floats, and no others."""
        made = copied(self._subject.module)
        quantize_by(made, self._subject.table_without(floats), self._subject.per_tensor)
        return self._judge.compare(compiled(made, self._subject.progress).run)
