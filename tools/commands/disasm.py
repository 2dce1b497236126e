"""Print the command streams of a container or a package, one packet on a line.

A package has the description of its accelerator; of a container that was made for another one than
is installed, it must be given. A loadable of NVDLA (.nvdla) is printed with its tables.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ...dialects.core.errors import CompileError, Diagnostic
from ...runtime.sizes.values import spelled_sizes
from ...targets.dla.core import container
from ...targets.dla.core.contents import Container
from ...targets.dla.core.disassembly import disassemble
from ...targets.dla.core.listing import listing
from ...targets.dla.core.packet import InstructionSet
from ...targets.dla.core.toml_file import parse_description, read_description
from ...targets.dla.nvdla.choice import NAME as NVDLA
from ...targets.dla.nvdla.configuration import find_configuration
from ...targets.dla.nvdla.format.listing import listing as nvdla_listing
from ...targets.dla.nvdla.format.loadable import Loadable
from ...targets.dla.nvdla.lint.linter import lint
from ...targets.dla.registry import find_classes, find_instructions
from .. import arguments

if TYPE_CHECKING:
    from ...runtime.package import Package


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="a container, a package (.trv) or a loadable (.nvdla)"
    )
    parser.add_argument(
        "--description", metavar="FILE.toml", type=Path, help="what the container was made for"
    )
    parser.add_argument(
        "--configuration",
        metavar="NAME",
        help="search a loadable for faults first, for nv_small, nv_large or nv_full",
    )
    arguments.add_key_argument(parser)
    parser.add_argument(
        "--whole",
        action="store_true",
        help="print also regions, ports and constants: of that, assemble makes the same file",
    )


def run(flags: argparse.Namespace) -> None:
    """Print the text of the packets, with the nodes that they are of behind them."""
    if arguments.is_package(flags.file):
        if flags.description is not None:
            flags.refuse("--description: a package has one of its own")
        package = arguments.open_package(flags, flags.file)
        if flags.configuration is not None:
            flags.refuse("--configuration: for loadables of NVDLA (.nvdla) alone")
        for name, text in _of_package(package, flags.file, flags.whole):
            print(f"; {name}\n{text}", end="")
        return
    arguments.refuse_key(flags, flags.file)
    file = Path(flags.file)
    data = arguments.read_bytes(file)
    if file.suffix == ".nvdla":
        print(_loadable(flags, data, file.name), end="")
        return
    if flags.configuration is not None:
        flags.refuse("--configuration: for loadables of NVDLA (.nvdla) alone")
    if flags.description is None:
        instructions = container.find_for(data, file.name, find_instructions)
    else:
        classes = container.find_for(data, file.name, find_classes)
        instructions = InstructionSet(read_description(flags.description), classes)
    print(_text(instructions, data, file.name, flags.whole), end="")


def _loadable(flags: argparse.Namespace, data: bytes, name: str) -> str:
    """Return the text of a loadable; faults are errors where a configuration is given."""
    if flags.whole or flags.description is not None:
        flags.refuse("--whole and --description: a loadable has no such")
    loadable = Loadable.read(data, name)
    if flags.configuration is not None:
        found = lint(loadable, find_configuration(flags.configuration))
        if found:
            raise CompileError([Diagnostic(f"{name}, {e.where}", e.message) for e in found])
    return nvdla_listing(loadable, name)


def _of_package(package: "Package", path: str, whole: bool) -> Iterator[tuple[str, str]]:
    from ...runtime.dla.part import DESCRIPTION
    from ...runtime.dla.step import DlaStep

    printed: set[tuple[str, bytes]] = set()
    for program in (package, *package.exact):
        steps = [step for step in program.manifest.steps if isinstance(step, DlaStep)]
        for name, accelerator in {step.entry: step.accelerator for step in steps}.items():
            data = bytes(program.entries[name])
            if (name, data) in printed:
                continue  # it has the programs for several sizes
            printed.add((name, data))
            if accelerator == NVDLA:
                yield name, _listed(data, name, whole)
                continue
            description = parse_description(bytes(program.entries[DESCRIPTION]), DESCRIPTION)
            instructions = InstructionSet(description, container.find_for(data, name, find_classes))
            yield name, _text(instructions, data, name, whole)
    if not printed:
        raise CompileError(f"'{path}' has nothing for an accelerator")


def _listed(data: bytes, name: str, whole: bool) -> str:
    """Return the text of a loadable in a package."""
    if whole:
        raise CompileError(f"'{name}' is a loadable, which has no --whole: no file is made of it")
    return nvdla_listing(Loadable.read(data, name), name)


def _text(instructions: InstructionSet, data: bytes, name: str, whole: bool) -> str:
    programs = container.load_all(instructions, data, name)
    if whole:
        return listing(instructions, *programs)
    return "".join(_stream(instructions, each) for each in programs)


def _stream(instructions: InstructionSet, program: Container) -> str:
    heading = f"; for {spelled_sizes(program.sizes)}\n" if program.sizes else ""
    return heading + disassemble(instructions, program.code, program.nodes)
