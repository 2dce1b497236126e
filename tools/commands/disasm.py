"""Print the command stream of an accelerator's container, one packet on a line."""

import argparse
from pathlib import Path

from ...targets.dla.core import container
from ...targets.dla.core.disassembly import disassemble
from ...targets.dla.core.listing import listing
from ...targets.dla.registry import choose_instructions
from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the container to read")
    parser.add_argument(
        "--whole",
        action="store_true",
        help="print also regions and constants: of that, trivium assemble makes the same file",
    )
    parser.add_argument("--target", **arguments.accelerator_argument())


def run(flags: argparse.Namespace) -> None:
    """Print the text of the packets, with the nodes that they are of behind them."""
    data = arguments.read_bytes(flags.file)
    name = flags.file.name
    instructions = choose_instructions(flags.target or container.target_name(data, name))
    loaded = container.load(instructions, data, name)
    if flags.whole:
        print(listing(instructions, loaded), end="")
    else:
        print(disassemble(instructions, loaded.code, loaded.nodes), end="")
