"""Print the command stream of an accelerator's container, one packet on a line."""

import argparse
from pathlib import Path

from ...dialects.core.errors import CompileError
from ...targets.dla.core import container
from ...targets.dla.core.disassembly import disassemble
from ...targets.dla.registry import find_instructions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the container to read")


def run(flags: argparse.Namespace) -> None:
    """Print the text of the packets, with the nodes that they are of behind them."""
    try:
        data = flags.file.read_bytes()
    except OSError as error:
        raise CompileError(f"cannot read '{flags.file}': {error.strerror}") from None
    instructions = find_instructions(container.target_name(data, flags.file.name))
    loaded = container.load(instructions, data, flags.file.name)
    print(disassemble(instructions, loaded.code, loaded.nodes), end="")
