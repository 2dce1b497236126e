"""`trivium-opt`: read IR, run passes on it, write IR, as `mlir-opt` does. See docs/opt.md."""

import argparse
import sys
from collections.abc import Sequence

from .. import __version__, dialects
from ..dialects.core.errors import CompileError
from ..dialects.core.files import write_file
from ..dialects.core.mlir import ir, new_context
from ..dialects.core.verification import verify
from ..passes.hooks import Explain, PrintIr, Timing
from ..passes.pipeline import Hook, Pipeline, import_all
from ..targets.registry import load_dialects, target_names
from . import expectations, opt_flags
from .diagnostics import Listener, Message, messages
from .opt_listing import listing
from .source import Source, read
from .terminal import OK as OK
from .terminal import REPORTED as REPORTED
from .terminal import USAGE as USAGE
from .terminal import run_tool


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool on command line arguments and return its exit code."""
    arguments = opt_flags.double_dashes(sys.argv[1:] if argv is None else argv)
    return run_tool(lambda: _main(arguments))


def _main(arguments: Sequence[str]) -> int:
    import_all(dialects)
    parser = opt_flags.parser(__version__)
    flags, leftover = parser.parse_known_args(arguments)
    if flags.list_passes or flags.list_targets:
        print(opt_flags.pass_table() if flags.list_passes else "\n".join(target_names()))
        return OK
    try:
        if flags.list_phases:
            print(opt_flags.phase_table(flags.list_phases))
            return OK
        pipeline = opt_flags.pipeline(flags, leftover)
    except CompileError as error:
        parser.error(str(error).removeprefix("error: "))
    sources = read(flags.file, split=flags.split_input_file)
    return REPORTED if _run_all(sources, pipeline, flags) else OK


def _run_all(sources: Sequence[Source], pipeline: Pipeline, flags: argparse.Namespace) -> bool:
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
        hooks = _hooks(flags)
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


def _hooks(flags: argparse.Namespace) -> list[Hook]:
    """Make what watches the passes; the clock comes last, to stand closest to them."""
    hooks: list[Hook] = []
    printing = PrintIr(
        before_passes=opt_flags.printed_passes(flags, "before"),
        after_passes=opt_flags.printed_passes(flags, "after"),
        only_changed=flags.mlir_print_ir_after_change,
        on_failure=flags.mlir_print_ir_after_failure,
        module_scope=flags.mlir_print_ir_module_scope,
        show=lambda operation: _show(flags, operation),
    )
    if printing.before_passes or printing.after_passes or printing.on_failure:
        hooks.append(printing)
    hooks += [Explain(name) for name in flags.debug]
    if flags.mlir_timing:
        hooks.append(Timing())
    return hooks


def _written(flags: argparse.Namespace, operation: ir.Operation) -> str:
    """Return the IR, its listing, or the source of the kernels in it."""
    if not flags.emit:
        return _show(flags, operation)
    if flags.emit == "listing":
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


if __name__ == "__main__":
    sys.exit(main())
