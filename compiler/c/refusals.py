"""What of a program has no form outside of packages: refused before anything is written."""

from collections.abc import Iterator

from ...dialects.core.errors import CompileError, Diagnostic
from ...runtime.cpu.step import CpuStep
from ...runtime.manifest import Manifest
from ...runtime.step import Step

IN_C, IN_LIBRARY = "C", "a library"
"""The forms of a program outside of packages, as they are spelled in errors."""


def check_program(manifest: Manifest, onnc: bool = False) -> None:
    """Raise CompileError that lists what a program has besides native code, or needs to run it.

    With `onnc`, it is called by ONNC's entry, which knows no sizes.
    """
    faults = [*native_faults(manifest, IN_C), *_contents(manifest)]
    faults += unknown_sizes(manifest) if onnc else []
    if faults:
        raise CompileError(faults)


def native_faults(manifest: Manifest, form: str) -> Iterator[Diagnostic]:
    """Yield what a program has that is no native code on numbers."""
    ways_out = ["cut the model there (--outputs)", "run a package"]
    if manifest.symbols:
        ways_out.insert(0, "give sizes (--shape), for which there may be native code")
    advice = f"code in {form} calls nothing but itself: {', or '.join(ways_out)}"
    for step in (*manifest.load_steps, *manifest.steps):
        if not isinstance(step, CpuStep):
            nodes = ", ".join(step.nodes) or step.kind
            text = f"{_described(step, manifest)} has no form in {form}"
            yield Diagnostic(nodes, text, (advice,))
    if manifest.has_text:
        text = f"the model has tensors of text, which code in {form} has not"
        yield Diagnostic("", text, (advice,))


def unknown_sizes(manifest: Manifest) -> Iterator[Diagnostic]:
    """Yield that sizes change from run to run, if some do."""
    if manifest.symbols:
        names = ", ".join(symbol.name for symbol in manifest.symbols)
        yield Diagnostic("", f"sizes {names} change from run to run", ("give --shape NAME=SIZE",))


def _described(step: Step, manifest: Manifest) -> str:
    reason = step.reason
    text = f"'{step.operation(manifest)}' op, a step of kind '{step.kind}',"
    return f"{text} ({reason})" if reason else text


def _contents(manifest: Manifest) -> Iterator[Diagnostic]:
    if manifest.exact:
        text = "the package has programs for exact sizes, code in C has one program"
        yield Diagnostic("", text, ("compile the model again without --exact",))
    found = ", ".join(symbol.name for symbol in manifest.symbols if symbol.stage)
    if found:
        text = f"sizes {found} are found as the model runs, which code in C does not"
        note = "cut the model (--outputs) before nodes that find sizes, such as NonZero"
        yield Diagnostic("", text, (note,))
    if manifest.carried:
        names = ", ".join(each.output for each in manifest.carried)
        note = "pass the values from run to run yourself: leave out --state"
        yield Diagnostic(names, "is the state of a session, which code in C has not", (note,))
    if manifest.spaces:
        names = ", ".join(space.name for space in manifest.spaces)
        text = f"the model has memory of {names}, which code in C has not"
        yield Diagnostic("", text, ("compile it for the target cpu",))
