"""Run the pipeline of `trivium-opt` on its sources, and write what comes of them."""

import argparse
import sys
from collections.abc import Sequence

from ..dialects import tri as tri  # whose ops a misspelt one is compared with
from ..dialects.core.errors import CompileError
from ..dialects.core.files import write_file
from ..dialects.core.mlir import ir, new_context
from ..dialects.core.verification import verify
from ..passes.hooks import Timing
from ..passes.pipeline import Pipeline
from ..targets.registry import load_dialects
from . import expectations, opt_pipeline
from .diagnostics import Listener, Message, messages
from .source import Source


def run_all(sources: Sequence[Source], pipeline: Pipeline, flags: argparse.Namespace) -> bool:
    """Run the pipeline on all pieces and write the results; say whether anything failed."""
    failed = False
    texts: list[str] = []
    for source in sources:
        text, heard = _run(source, pipeline, flags)
        if flags.verify_diagnostics:
            wrong = expectations.check(source, heard)
            lines = [str(diagnostic) for diagnostic in wrong]
            failed |= bool(wrong)
        else:
            lines = [message.render(source) for message in heard]
            failed |= text is None
        for line in lines:
            print(line, file=sys.stderr)
        texts += [text] if text is not None else []
    if not flags.verify_diagnostics:
        _write("\n// -----\n\n".join(texts), flags.output, failed)
    return failed


def _run(
    source: Source, pipeline: Pipeline, flags: argparse.Namespace
) -> tuple[str | None, list[Message]]:
    """Return the IR that the pipeline makes of a source, None after an error, and all messages."""
    with new_context() as context:
        listener = Listener(context)
        hooks = opt_pipeline.hooks(flags, lambda operation: _show(flags, operation))
        try:
            module = source.parse()
            load_dialects(module.operation)
            allow = flags.allow_unregistered_dialect
            verify(module.operation, allow_unregistered=allow)
            each = flags.verify_each == "true"
            pipeline.run(module, *hooks, verify_each=each, allow_unregistered=allow)
            text = _written(flags, module.operation)
        except CompileError as error:
            return None, listener.heard + messages(error)
        for hook in hooks:
            if isinstance(hook, Timing):
                print(hook.report(), file=sys.stderr)
    failed = any(message.severity == "error" for message in listener.heard)
    return None if failed else text, listener.heard


def _written(flags: argparse.Namespace, operation: ir.Operation) -> str:
    """Return the IR, its listing, or the source of the kernels in it."""
    if not flags.emit:
        return _show(flags, operation)
    if flags.emit == "listing":
        from .opt_listing import listing

        return listing(operation) + "\n"
    from ..targets.gpu.print_kernel import print_kernels  # targets are slow to import

    return "\n\n".join(source.file for source in print_kernels(operation))


def _show(flags: argparse.Namespace, operation: ir.Operation) -> str:
    return operation.get_asm(
        enable_debug_info=flags.mlir_print_debuginfo,
        large_elements_limit=flags.mlir_elide_elementsattrs_if_larger,
    )


def _write(text: str, output: str, failed: bool) -> None:
    """Write to standard output, or to a file, which stays as it was when something failed."""
    if output == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
    elif not failed:
        write_file(output, text)
