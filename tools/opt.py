"""`trivium-opt`: read IR, run passes on it, write IR, as `mlir-opt` does. See docs/opt.md."""

import sys
from collections.abc import Sequence

from .. import __version__
from ..targets.installed import names, targets
from . import opt_flags
from .pass_table import pass_table
from .terminal import OK as OK
from .terminal import REPORTED as REPORTED
from .terminal import USAGE as USAGE
from .terminal import run_tool


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool on command line arguments and return its exit code."""
    arguments = opt_flags.double_dashes(sys.argv[1:] if argv is None else argv)
    return run_tool(lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    parser = opt_flags.parser(__version__)
    flags, leftover = parser.parse_known_args(arguments)
    if flags.list_passes or flags.list_targets:
        print(pass_table() if flags.list_passes else "\n".join(names(targets())))
        return OK

    # Only what reads IR needs MLIR, which is slow to import.
    from ..dialects.core.errors import CompileError
    from ..targets.registry import find_emitter
    from .opt_pipeline import phase_table, pipeline

    try:
        if flags.list_phases:
            print(phase_table(flags.list_phases))
            return OK
        passes = pipeline(flags, leftover)
        if flags.emit not in (None, opt_flags.LISTING):
            find_emitter(flags.emit)
    except CompileError as error:
        parser.error(str(error).removeprefix("error: "))

    from .opt_run import run_all
    from .source import read

    sources = read(flags.file, split=flags.split_input_file, shapes=flags.shapes)
    return REPORTED if run_all(sources, passes, flags) else OK


if __name__ == "__main__":
    sys.exit(main())
