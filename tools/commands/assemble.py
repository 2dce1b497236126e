"""Make an accelerator's container of the text that `trivium disasm --whole` prints.

Each fault of the text is listed with its line; then nothing is written.
"""

import argparse
from pathlib import Path

from ...dialects.core.errors import CompileError, Diagnostic
from ...dialects.core.files import write_file
from ...targets.dla.core import container
from ...targets.dla.core.listing import read_listing
from ...targets.dla.registry import Configuration
from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", type=Path, help="the text to read")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, required=True)
    parser.add_argument("--target", **arguments.accelerator_argument(), required=True)


def run(flags: argparse.Namespace) -> None:
    """Write the file; it is the one that the text was printed from."""
    instructions = Configuration.parse(flags.target).instructions
    programs = read_listing(instructions, _text(flags.text), flags.text.name)
    write_file(flags.output, container.save(instructions.description, *programs))


def _text(file: Path) -> str:
    data = arguments.read_bytes(file)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CompileError([Diagnostic(f"{file.name}:{line}", "is no UTF-8 text")]) from None
