"""Write a package for a new accelerator, outside of Trivium: it is installed with pip.

The accelerator has the description of the template, and an op and a packet of its own, with their
tests and a page. It compiles and simulates networks as it is; what comes next is in
docs/extending/your-accelerator.md.
"""

import argparse
from pathlib import Path

TEMPLATES = ("vanilla",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="what the accelerator is to be called")
    parser.add_argument(
        "--template",
        choices=TEMPLATES,
        default="vanilla",
        help="the accelerator that it begins as, vanilla by default",
    )
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", type=Path, help="what to make: NAME unless given"
    )


def run(flags: argparse.Namespace) -> None:
    """Write the package and print the next steps; an error leaves no file."""
    from ..new_target import write_target  # it asks what MLIR has

    folder: Path = flags.output or Path(flags.name)
    write_target(flags.name, flags.template, folder)
    print(f"{folder} has the accelerator {flags.name}; to use it:")
    print(f"  pip install -e {folder}")
    print(f"  trivium compile MODEL --target {flags.name}")
