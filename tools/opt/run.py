"""Run the pipeline of `trivium-opt` on its sources, and write what comes of them."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...compiler.ir_files import save_weights
from ...dialects import tri as tri  # whose ops a misspelt one is compared with
from ...dialects.core.errors import CompileError
from ...dialects.core.files import write_file
from ...dialects.core.mlir import ir, new_context
from ...dialects.core.module import Module
from ...dialects.core.tensor import Array
from ...dialects.core.verification import Verify, verify
from ...passes.instrumentation import Timing
from ...passes.pipeline import Pipeline
from ...targets.registry import find_emitter, load_dialects
from . import expectations
from .diagnostics import Listener, Message, messages
from .flags import LISTING
from .listing import listing
from .pipeline import hooks as pass_hooks
from .source import Source


@dataclass(frozen=True)
class Result:
    """Hold the text that comes of a source, and the weights that it names if it is IR."""

    text: str
    weights: Mapping[str, Array]


def run_all(sources: Sequence[Source], pipeline: Pipeline, flags: argparse.Namespace) -> bool:
    """Run the pipeline on all pieces and write the results; return whether anything failed."""
    failed = False
    results: list[Result] = []
    for source in sources:
        result, heard = _run(source, pipeline, flags)
        if flags.verify_diagnostics:
            wrong = expectations.check(source, heard)
            lines = [str(diagnostic) for diagnostic in wrong]
            failed |= bool(wrong)
        else:
            lines = [message.render(source) for message in heard]
            failed |= result is None
        for line in lines:
            print(line, file=sys.stderr)
        results += [result] if result is not None else []
    if not flags.verify_diagnostics:
        _write(results, flags.output, failed)
    return failed


def _run(
    source: Source, pipeline: Pipeline, flags: argparse.Namespace
) -> tuple[Result | None, list[Message]]:
    """Return what the pipeline makes of a source, None after an error, and all messages."""
    with new_context() as context:
        listener = Listener(context)
        hooks = pass_hooks(flags, lambda operation: _show(flags, operation))
        try:
            module = source.parse()
            load_dialects(module.operation)
            allow = flags.allow_unregistered_dialect
            verify(module.operation, allow_unregistered=allow)
            each = Verify.ALL if flags.verify_each == "true" else Verify.NONE
            pipeline.run(module, *hooks, verify=each, allow_unregistered=allow)
            result = _result(flags, module)
        except CompileError as error:
            return None, listener.heard + messages(error)
        for hook in hooks:
            if isinstance(hook, Timing):
                print(hook.report(), file=sys.stderr)
    failed = any(message.severity == "error" for message in listener.heard)
    return None if failed else result, listener.heard


def _result(flags: argparse.Namespace, module: Module) -> Result:
    """Return the IR, its listing, or what an emitter prints of the kernels in it."""
    if not flags.emit:
        return Result(_show(flags, module.operation), module.weights)
    if flags.emit == LISTING:
        return Result(listing(module.operation) + "\n", {})
    return Result(find_emitter(flags.emit).text(module), {})


def _show(flags: argparse.Namespace, operation: ir.Operation) -> str:
    return operation.get_asm(
        enable_debug_info=flags.mlir_print_debuginfo,
        large_elements_limit=flags.mlir_elide_elementsattrs_if_larger,
    )


def _write(results: Sequence[Result], output: str, failed: bool) -> None:
    """Write to standard output, or to a file, which stays as it was when something failed.

    The weights that the IR in a file names go to a file beside it.
    """
    text = "\n// -----\n\n".join(result.text for result in results)
    if output == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
    elif not failed:
        for result in results:
            save_weights(result.weights, output)
        write_file(output, text)
