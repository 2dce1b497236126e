"""What can be seen while a pipeline runs: IR around passes, their times, patterns not matched."""

import sys
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from ..dialects.core.errors import CompileError
from ..dialects.core.files import write_file
from ..dialects.core.location import describe
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module
from .pipeline import Instrumentation, Pipeline, Stage, Upstream
from .rewriting import LOGS, Log

Write = Callable[[str], object]
Show = Callable[[ir.Operation], str]


def to_standard_error(text: str) -> None:
    """Write text to what is standard error at the time of the call."""
    sys.stderr.write(text)


EVERY = "*"
"""Stands for all passes where names of passes are expected."""


class Begun(Instrumentation):
    """Forward to an instrumentation whose `begin` has seen all pipelines that run."""

    def __init__(self, observer: Instrumentation) -> None:
        self.before = observer.before
        self.after = observer.after
        self.failed = observer.failed


@dataclass
class PrintIr(Instrumentation):
    """Print the IR before and after the named passes, as MLIR's `--mlir-print-ir-…` flags do.

    MLIR's passes on functions show each function by itself unless `module_scope` is set.
    """

    before_passes: Collection[str] = ()
    after_passes: Collection[str] = ()
    only_changed: bool = False
    on_failure: bool = False
    module_scope: bool = False
    show: Show = str
    write: Write = to_standard_error
    _texts: dict[str, str] = field(default_factory=dict[str, str], init=False)

    def begin(self, pipeline: Pipeline, module: Module) -> None:
        """Raise CompileError for a name that no pass of the pipeline has."""
        for name in {*self.before_passes, *self.after_passes} - {EVERY}:
            pipeline.need(name)

    def before(self, stage: Stage, module: Module) -> None:
        self._texts = self._dumps(stage, module) if self.only_changed else {}
        if _named(stage, self.before_passes):
            self._print(f"Before {stage.step}", self._dumps(stage, module))

    def after(self, stage: Stage, module: Module) -> None:
        if not _named(stage, self.after_passes):
            return
        dumps = self._dumps(stage, module)
        changed = {scope: text for scope, text in dumps.items() if self._texts.get(scope) != text}
        self._print(f"After {stage.step}", changed)

    def failed(self, stage: Stage, module: Module) -> None:
        if self.on_failure or _named(stage, self.after_passes):
            self._print(f"After {stage.step} Failed", self._dumps(stage, module))

    def _dumps(self, stage: Stage, module: Module) -> dict[str, str]:
        """Return the IR to print, each piece with a title."""
        inside = isinstance(stage.step, Upstream) and stage.anchors == ("func.func",)
        if self.module_scope or not inside:
            return {"": self.show(module.operation)}
        blocks = module.operation.regions[0].blocks
        functions = [
            op.operation for op in blocks[0].operations if op.operation.name == "func.func"
        ]
        return {
            f" ('func.func' operation: @{f.attributes['sym_name'].value})": self.show(f)
            for f in functions
        }

    def _print(self, when: str, dumps: dict[str, str]) -> None:
        for scope, text in dumps.items():
            self.write(f"// -----// IR Dump {when}{scope} //----- //\n{text.rstrip()}\n\n")


@dataclass
class WriteIr(Instrumentation):
    """Write the IR to a folder: `000-start.mlir`, then a numbered file after each pass.

    The folder is made where there is none, and files of the same names are replaced. What a pass
    leaves when it fails goes to a file that ends in `-failed.mlir`. Raises CompileError when a file
    cannot be written.
    """

    folder: Path
    show: Show = str
    _count: int = field(default=0, init=False)

    def begin(self, pipeline: Pipeline, module: Module) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CompileError(f"cannot make '{self.folder}': {error.strerror}") from None
        self._count = 0
        self._write("start", module)

    def after(self, stage: Stage, module: Module) -> None:
        self._count += 1
        self._write(stage.name, module)

    def failed(self, stage: Stage, module: Module) -> None:
        self._count += 1
        self._write(f"{stage.name}-failed", module)

    def _write(self, name: str, module: Module) -> None:
        path = self.folder / f"{self._count:03}-{name}.mlir"
        write_file(path, f"{self.show(module.operation).rstrip()}\n")


def _named(stage: Stage, names: Collection[str]) -> bool:
    return EVERY in names or stage.name in names


@dataclass
class Timing(Instrumentation):
    """Measure the wall time of each pass; `report` makes a table. Must be the last hook."""

    seconds: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    _created: float = field(default_factory=time.perf_counter, init=False)
    _started: float = field(default=0.0, init=False)

    def before(self, stage: Stage, module: Module) -> None:
        self._started = time.perf_counter()

    def after(self, stage: Stage, module: Module) -> None:
        self.seconds.append((str(stage), time.perf_counter() - self._started))

    failed = after

    def report(self) -> str:
        """Write a table in the form of MLIR's: seconds and share of each pass, in order.

        `Rest` is what was not spent in passes: parsing, verifying, printing.
        """
        total = time.perf_counter() - self._created
        rest = total - sum(seconds for _, seconds in self.seconds)
        rows = [*self.seconds, ("Rest", rest), ("Total", total)]
        lines = [f"  {s:8.4f} ({s / total:6.1%})  {name}" for name, s in rows]
        rule = f"===-{'-' * 73}-==="
        title = "... Execution time report ...".center(80).rstrip()
        return "\n".join([rule, title, rule, "  ----Wall Time----   ----Name----", *lines, ""])


@dataclass
class Explain(Instrumentation):
    """Print why the patterns of one pass left ops alone: `--debug=PASS`."""

    name: str
    write: Write = to_standard_error
    _log: Log = field(default_factory=Log, init=False)

    def before(self, stage: Stage, module: Module) -> None:
        if stage.name == self.name:
            self._log = Log()
            LOGS.append(self._log)

    def after(self, stage: Stage, module: Module) -> None:
        if self._log not in LOGS:
            return
        LOGS.remove(self._log)
        lines = [f"{describe(where)}: remark: {reason}\n" for where, reason in self._log.lines]
        for line in dict.fromkeys(lines):
            self.write(line.removeprefix(": "))

    failed = after
