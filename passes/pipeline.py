"""Pipelines: passes of ours and of MLIR in one text, such as

    builtin.module(func.func(canonicalize,fold-constants{size-budget=64},cse))

`part.cpu(…)` runs passes on each part of a model that is for a target, as a module of its own.
Our passes win over MLIR's of the same name. A pass of ours always runs on the whole module, also
when it stands inside an anchor such as `func.func(…)`; MLIR's run on the ops that the anchors name.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import groupby

from ..dialects.core.attributes import types_read_once
from ..dialects.core.errors import CompileError, Diagnostic, Invalid, Unsupported
from ..dialects.core.ir.diagnostics import compile_error
from ..dialects.core.mlir import PassManager, ir, new_context
from ..dialects.core.module import Module
from ..dialects.core.verification import Verify, verifier
from .core import PASSES, Pass
from .index import PassIndex, own_passes
from .parts import ANCHOR, part_modules

ROOT = "builtin.module"

WELL_KNOWN = (
    "canonicalize",
    "convert-scf-to-cf",
    "cse",
    "inline",
    "loop-invariant-code-motion",
    "lower-affine",
    "one-shot-bufferize",
    "sccp",
    "symbol-dce",
)
"""Passes of MLIR that a misspelt name is compared with; the bindings cannot list them all."""


@dataclass(frozen=True)
class Upstream:
    """Name one of MLIR's own passes, with its options as MLIR spells them."""

    name: str
    options: str = ""

    def __str__(self) -> str:
        return f"{self.name}{{{self.options}}}" if self.options else self.name


@dataclass(frozen=True)
class Nest:
    """Run steps on every op of one kind: `func.func(…)`."""

    anchor: str
    steps: "tuple[Step, ...]"

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.steps))})"


Step = Pass | Upstream | Nest


@dataclass(frozen=True)
class Stage:
    """Hold one pass of a pipeline and the anchors around it, outermost first.

    `part` is the target on whose parts it runs; empty for a pass that runs on the whole module.
    """

    step: Pass | Upstream
    anchors: tuple[str, ...] = ()
    part: str = ""

    @property
    def name(self) -> str:
        return self.step.name

    def __str__(self) -> str:
        return "".join(f"{a}(" for a in self.anchors) + str(self.step) + ")" * len(self.anchors)


class Instrumentation:
    """Base of what wants to see the module around each pass; every method may be overridden."""

    def begin(self, pipeline: "Pipeline", module: Module) -> None: ...

    def before(self, stage: Stage, module: Module) -> None: ...

    def after(self, stage: Stage, module: Module) -> None: ...

    def failed(self, stage: Stage, module: Module) -> None: ...


@dataclass(frozen=True)
class Pipeline:
    """Hold passes in the order in which they run; printing one gives the text that makes it."""

    steps: tuple[Step, ...] = ()

    @staticmethod
    def parse(text: str, index: PassIndex | None = None) -> "Pipeline":
        """Read a pipeline; the outer `builtin.module(…)` may be left out.

        `index` says where passes are defined that are not imported yet: unless given, it has those
        for any target. Raises CompileError for text that is not a pipeline, a name that is no pass
        (with the nearest one that is), an option that the pass does not have, and a value that the
        option cannot take.
        """
        index = own_passes() if index is None else index
        steps = _parse(text, index)
        if len(steps) == 1 and isinstance(steps[0], Nest) and steps[0].anchor == ROOT:
            steps = steps[0].steps
        pipeline = Pipeline(steps)
        _check_upstream(pipeline, index)
        return pipeline

    def __str__(self) -> str:
        return str(Nest(ROOT, self.steps))

    def stages(self) -> list[Stage]:
        """List the passes in the order in which they run."""
        return list(_flatten(self.steps, ()))

    def need(self, name: str) -> None:
        """Raise CompileError unless the pipeline has a pass of a name."""
        names = [stage.name for stage in self.stages()]
        if name not in names:
            listed = ", ".join(names) or "none"
            raise CompileError(f"pipeline has no pass '{name}', it has: {listed}")

    def without(self, names: Sequence[str]) -> "Pipeline":
        """Leave out all passes of some names.

        Raises CompileError for a name that no pass of the pipeline has, and for a pass that others
        need.
        """
        faults: list[Diagnostic] = []
        found = {stage.name: stage.step for stage in self.stages()}
        for name in names:
            step = found.get(name)
            if step is None:
                close = difflib.get_close_matches(name, found, 1)
                hint = f", did you mean '{close[0]}'?" if close else ""
                faults.append(Diagnostic("", f"pipeline has no pass '{name}' to disable{hint}"))
            elif isinstance(step, Pass) and step.needed:
                faults.append(Diagnostic("", f"pass '{name}' cannot be disabled: others need it"))
        if faults:
            raise CompileError(faults)
        return Pipeline(_without(self.steps, names)) if names else self

    def until(self, name: str) -> "Pipeline":
        """Cut the pipeline off after the first pass of a name; CompileError when it has none."""
        self.need(name)
        return Pipeline(_until(self.steps, name))

    def run(
        self,
        module: Module,
        *hooks: Instrumentation,
        verify: Verify = Verify.CHANGES,
        allow_unregistered: bool = False,
    ) -> None:
        """Run all passes on a module, in place; the module must be valid.

        A run of MLIR's passes goes to one pass manager and counts as one unless there are hooks.
        Raises CompileError when MLIR reports an error or the IR is not valid afterwards, or when a
        pass does not support an op or a type, as the passes of one level get IR of another. Other
        exceptions of passes are bugs, and propagate.
        """
        with module.operation.context, types_read_once():
            for hook in hooks:
                hook.begin(self, module)
            groups = [(p, list(s)) for p, s in groupby(self.stages(), lambda stage: stage.part)]
            for number, (part, stages) in enumerate(groups, 1):
                last = number == len(groups)
                for scope in part_modules(module, part) if part else [module]:
                    _run_stages(stages, scope, hooks, verify, allow_unregistered, last)


# -- text -----------------------------------------------------------------------------------------


def _parse(text: str, index: PassIndex) -> tuple[Step, ...]:
    return tuple(_parse_step(part.strip(), text, index) for part in _split(text))


def _parse_step(part: str, whole: str, index: PassIndex) -> Step:
    found = re.fullmatch(r"([\w.-]+)\s*(?:\((.*)\)|\{(.*)\})?", part, re.DOTALL)
    if found is None:
        fault = f"'{part}' is not a pass" if part else "a pass is missing between commas"
        raise CompileError(f"{fault} in pipeline '{whole}'")
    name, nested, options = found.groups()
    if nested is not None:
        return Nest(name, _parse(nested, index))
    options = " ".join((options or "").split())
    found = _find(name, index)
    return found.parse(options) if found else Upstream(name, options)


def _find(name: str, index: PassIndex) -> type[Pass] | None:
    """Return a pass of ours, imported only now, or None."""
    if name not in PASSES and name in index:
        import_module(index[name].module)
    return PASSES.get(name)


def _split(text: str) -> list[str]:
    """Split at the commas that stand outside of all brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "({[") - (character in ")}]")
        if depth < 0:
            break
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    if depth:
        raise CompileError(f"brackets in pipeline '{text}' do not match")
    return parts if len(parts) > 1 or text.strip() else []


def _flatten(steps: Sequence[Step], anchors: tuple[str, ...]) -> Iterator[Stage]:
    for step in steps:
        if not isinstance(step, Nest):
            yield Stage(step, anchors)
        elif step.anchor.startswith(ANCHOR):
            part = step.anchor.removeprefix(ANCHOR)
            yield from (replace(stage, part=part) for stage in _flatten(step.steps, anchors))
        else:
            yield from _flatten(step.steps, (*anchors, step.anchor))


def _without(steps: Sequence[Step], names: Sequence[str]) -> tuple[Step, ...]:
    """Leave out passes of some names, at any depth."""
    return tuple(
        replace(step, steps=_without(step.steps, names)) if isinstance(step, Nest) else step
        for step in steps
        if isinstance(step, Nest) or step.name not in names
    )


def _until(steps: Sequence[Step], name: str) -> tuple[Step, ...]:
    kept: list[Step] = []
    for step in steps:
        if isinstance(step, Nest) and any(s.name == name for s in _flatten(step.steps, ())):
            return (*kept, Nest(step.anchor, _until(step.steps, name)))
        kept.append(step)
        if not isinstance(step, Nest) and step.name == name:
            break
    return tuple(kept)


def _check_upstream(pipeline: Pipeline, index: PassIndex) -> None:
    stages = [stage for stage in pipeline.stages() if isinstance(stage.step, Upstream)]
    if not stages:
        return
    with ir.Context.current or new_context():
        for stage in stages:
            try:
                PassManager(ROOT).add(str(stage))
            except ValueError as error:
                raise _refusal(stage, str(error), index) from None


def _refusal(stage: Stage, words: str, index: PassIndex) -> CompileError:
    """Say in one line what MLIR says in several about a pass that it does not take."""
    if "does not refer to a registered pass" in words:
        known = dict.fromkeys([*PASSES, *index, *WELL_KNOWN])
        close = difflib.get_close_matches(stage.name, known, 3)
        hint = ", did you mean " + " or ".join(f"'{name}'" for name in close) if close else ""
        return CompileError(f"no pass is called '{stage.name}'{hint}")
    reason = words.strip().partition("\n")[0].removeprefix("<Pass-Options-Parser>: ")
    return CompileError(f"pass '{stage.name}': {reason[:1].lower()}{reason[1:]}")


# -- running --------------------------------------------------------------------------------------


def _batches(stages: Sequence[Stage], *, joined: bool) -> list[list[Stage]]:
    """Put neighbours among MLIR's passes together, or leave every pass alone."""
    batches: list[list[Stage]] = []
    for stage in stages:
        if joined and batches and isinstance(stage.step, Upstream) and _is_upstream(batches[-1]):
            batches[-1].append(stage)
        else:
            batches.append([stage])
    return batches


def _is_upstream(batch: Sequence[Stage]) -> bool:
    return isinstance(batch[0].step, Upstream)


def _run_stages(
    stages: Sequence[Stage],
    module: Module,
    hooks: Sequence[Instrumentation],
    verify: Verify,
    allow_unregistered: bool,
    last: bool,
) -> None:
    """Run stages on a module; after the `last` ones of a pipeline, all of the IR is verified."""
    check = verifier(module.operation, verify, allow_unregistered)
    check_all = verifier(module.operation, Verify.ALL, allow_unregistered)
    batches = _batches(stages, joined=not hooks)
    for number, batch in enumerate(batches, 1):
        _observed(batch, module, hooks, verify)
        is_end = last and number == len(batches) and verify is Verify.CHANGES
        _verify(batch, module, hooks, check_all if is_end else check)


def _observed(
    batch: Sequence[Stage], module: Module, hooks: Sequence[Instrumentation], verify: Verify
) -> None:
    """Run a batch between its hooks; the last hook is closest to the pass, on both sides."""
    for hook in hooks:
        hook.before(batch[0], module)
    try:
        _run(batch, module, verify)
    except Exception:
        for hook in reversed(hooks):
            hook.failed(batch[0], module)
        raise
    for hook in reversed(hooks):
        hook.after(batch[0], module)


def _run(batch: Sequence[Stage], module: Module, verify: Verify) -> None:
    first = batch[0].step
    if isinstance(first, Pass):
        try:
            first.run(module)
        except (Invalid, Unsupported) as error:
            message = f"does not accept the IR: {error}"
            raise CompileError([Diagnostic(f"pass {batch[0]}", message)]) from error
        return
    manager = PassManager(ROOT)
    manager.enable_verifier(verify is Verify.ALL)
    for stage in batch:
        manager.add(str(stage))
    try:
        manager.run(module.operation)
    except ir.MLIRError as error:
        raise compile_error(error) from error


def _verify(
    batch: Sequence[Stage],
    module: Module,
    hooks: Sequence[Instrumentation],
    check: Callable[[], None],
) -> None:
    try:
        check()
        return
    except ir.MLIRError as error:
        found = compile_error(error)
    except CompileError as error:
        found = error
    for hook in reversed(hooks):
        hook.failed(batch[0], module)
    culprit = ",".join(map(str, batch))
    raise CompileError(
        [Diagnostic(d.where, d.message, (*d.notes, f"after {culprit}")) for d in found.diagnostics]
    )
