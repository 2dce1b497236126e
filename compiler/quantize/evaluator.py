"""Compare the outputs of quantised models with those of the floating-point model."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...dialects.core.errors import CompileError
from ...dialects.core.module import Module
from ...passes.quantize.quantize import quantize_by
from ...passes.quantize.scale_table import ScaleTable
from ...targets.core import Progress
from .closeness import Closeness, closeness
from .fake_quant_toggles import add_toggles
from .observe import Feed, Run
from .variants import compiled, copied


@dataclass(frozen=True)
class QuantizationCase:
    """A floating-point model, the scales to quantise it with, and the batches to run it on."""

    module: Module
    table: ScaleTable
    feeds: Sequence[Feed]
    per_tensor: bool
    progress: Progress

    def table_without(self, floats: Collection[str]) -> ScaleTable:
        """Return the table without the values that stay in floating point."""
        rest = {name: scale for name, scale in self.table.values.items() if name not in floats}
        return replace(self.table, values=rest)


class Evaluator:
    """Compare outputs with those of a reference run on the same batches.

    Raises CompileError when no output is of floats.
    """

    def __init__(self, feeds: Sequence[Feed], run: Run) -> None:
        self._feeds = feeds
        self._expected = [run(feed) for feed in feeds]
        self._names = [n for n, array in self._expected[0].items() if array.dtype.kind == "f"]
        if not self._names:
            raise CompileError("no output is of floats, so there is nothing to compare")

    def compare(self, run: Run) -> dict[str, Closeness]:
        """Return the closeness of each output over all batches."""
        pairs = [(want, run(feed)) for feed, want in zip(self._feeds, self._expected, strict=True)]
        return {name: closeness((x[name], q[name]) for x, q in pairs) for name in self._names}


class ToggledModel:
    """Round any subset of the values in one compiled model with fake-quantisation toggles."""

    def __init__(self, case: QuantizationCase) -> None:
        made = add_toggles(case.module, case.table, case.per_tensor)
        self._toggles = made.inputs
        self._session = compiled(made.module, case.progress)
        self._evaluator = Evaluator(case.feeds, self._rounding(()))

    def outputs(self, rounded: Collection[str]) -> dict[str, Closeness]:
        """Return the closeness of the outputs when only these values are rounded."""
        return self._evaluator.compare(self._rounding(rounded))

    def _rounding(self, rounded: Collection[str]) -> Run:
        toggles = {key: np.array(name in rounded) for name, key in self._toggles.items()}
        return lambda feed: self._session.run({**feed, **toggles})


class RecompiledModel:
    """Quantise and compile the model anew for each choice of values that stay floats."""

    def __init__(self, case: QuantizationCase) -> None:
        self._case = case
        session = compiled(copied(case.module), case.progress)
        self._evaluator = Evaluator(case.feeds, session.run)

    def outputs(self, floats: Collection[str]) -> dict[str, Closeness]:
        """Return the closeness of the outputs when only these values stay floats."""
        made = copied(self._case.module)
        quantize_by(made, self._case.table_without(floats), self._case.per_tensor)
        return self._evaluator.compare(compiled(made, self._case.progress).run)
