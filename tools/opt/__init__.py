"""The command `trivium-opt`: read IR, run passes on it and write IR, as `mlir-opt` does.

Only the command line imports it. Start reading at `run.py`; `flags.py` declares the flags,
`pipeline.py` makes the passes. See docs/opt.md.
"""

import sys
from collections.abc import Sequence

from ...dialects.core.discovery import load_plugins
from ...targets.installed import names, targets
from ...version import __version__
from ..terminal import OK as OK
from ..terminal import REPORTED as REPORTED
from ..terminal import USAGE as USAGE
from ..terminal import run_tool
from .flags import LISTING, double_dashes
from .flags import parser as flag_parser
from .pass_table import pass_table


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool on command line arguments and return its exit code."""
    arguments = double_dashes(sys.argv[1:] if argv is None else argv)
    return run_tool(lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    parser = flag_parser(__version__)
    flags, leftover = parser.parse_known_args(arguments)
    load_plugins(flags.plugins or ())
    if flags.list_formats:
        from ..format_table import format_table

        print(format_table())
        return OK
    if flags.list_passes or flags.list_targets:
        print(pass_table() if flags.list_passes else "\n".join(names(targets())))
        return OK

    # Only what reads IR needs MLIR, which is slow to import.
    from ...dialects.core.errors import CompileError
    from ...targets.registry import find_emitter
    from .pipeline import phase_table, pipeline

    try:
        if flags.list_phases:
            print(phase_table(flags.list_phases))
            return OK
        passes = pipeline(flags, leftover)
        if flags.emit not in (None, LISTING):
            find_emitter(flags.emit)
    except CompileError as error:
        parser.error(str(error).removeprefix("error: "))

    from .run import run_all
    from .source import read

    sources = read(flags.file, split=flags.split_input_file, shapes=flags.shapes)
    return REPORTED if run_all(sources, passes, flags) else OK
