"""`Tuner`: measures the schedules of a model that a tuning file does not know yet."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ....dialects.core.errors import CompileError
from ....dialects.core.machine import Machine
from ....dialects.core.module import Module
from ....dialects.core.op import Op
from ....passes.pipeline import Stage
from ...core import TargetInstrumentation
from ...options import CompileOptions
from ...tuning_file import PACKAGED, Entry, Tuning
from .apply_tuning import ApplyTuning, key_of, tunable
from .candidates import candidates
from .measure import measure
from .products import product_of
from .schedule import Schedule
from .tuning_file import tuning_format

Report = Callable[[str], None]
Measure = Callable[[Op, Sequence[Schedule], Machine, CompileOptions], list[float]]
"""Returns the microseconds that an op takes with each schedule."""


class Tuner(TargetInstrumentation):
    """Complete the tuning file before the pass runs that applies its schedules.

    With `options.tune`, ops with candidates that the file lacks are measured, each kind once, and
    the file is written after each: an interrupted tuning loses no measurement. `used` are the
    entries of the model's ops in the file. Raises CompileError for a file that is
    malformed, cannot be written, or would lose what another machine has measured.
    """

    def __init__(
        self, options: CompileOptions, machine: Machine, report: Report, measure: Measure = measure
    ) -> None:
        self.options, self.machine = options, machine
        self.report, self.measure = report, measure
        self.format = tuning_format(machine)
        self.used: dict[str, Entry[Schedule]] = {}
        self.ran = False

    def before(self, stage: Stage, module: Module) -> None:
        if stage.name != ApplyTuning.name:
            return
        self.ran = True
        entries = dict(self._read().entries)
        ops = {key_of(op): op for op, _ in tunable(module)}
        if self.options.tune:
            self._measure(ops, entries)
        self.used = {key: entries[key] for key in ops if key in entries}

    def entries(self) -> Mapping[str, bytes]:
        """Return the tuning file of this model alone, or nothing when no schedule came of one."""
        return {PACKAGED: self.format.spell(self.used).encode()} if self.used else {}

    def _read(self) -> Tuning[Schedule]:
        file = self.options.tuning_file
        if self.options.tune and not Path(file).exists():
            return Tuning({})
        tuning = self.format.read(file)
        if tuning.foreign and self.options.tune:
            raise CompileError(f"{file} {tuning.foreign}: tune to another file, or remove this one")
        if tuning.foreign:
            self.report(f"note: {file} {tuning.foreign}; it is not used")
        return tuning

    def _measure(self, ops: dict[str, Op], entries: dict[str, Entry[Schedule]]) -> None:
        missing = {key: wanted for key, op in ops.items() if (wanted := self._missing(op, entries))}
        number, of = self.options.tune_share
        if of > 1:  # what takes longest is dealt out first, so that shares take about as long
            missing = dict(sorted(missing.items(), key=lambda each: (-len(each[1]), each[0])))
        missing = dict([*missing.items()][number::of])
        self.format.write(self.options.tune, entries)
        for number, (key, schedules) in enumerate(missing.items()):
            self.report(f"tune {number + 1} of {len(missing)}: {key}")
            times = self.measure(ops[key], schedules, self.machine, self.options)
            rounded = [round(time, 1) or 0.1 for time in times]
            times_of = dict(zip(schedules, rounded, strict=True))
            entries[key] = Entry[Schedule].of(times_of)
            self.format.write(self.options.tune, entries)

    def _missing(self, op: Op, entries: dict[str, Entry[Schedule]]) -> list[Schedule]:
        """List the schedules of an op to measure: none if the file has all candidates."""
        product = product_of(op)
        assert product is not None, "only what can be packed is tuned"
        wanted = candidates(product, self.machine, self.options.layer_error)
        entry = entries.get(key_of(op))
        known = list(entry.candidates) if entry else []
        if len(wanted) < 2 or set(wanted) <= set(known):
            return []
        # Times compare only when they were taken together.
        return list(dict.fromkeys([*wanted, *known]))
