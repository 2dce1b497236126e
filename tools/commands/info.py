"""Describe a package: what goes in and out, what runs where, memory and sizes."""

import argparse

from ...runtime.cpu import lacking
from ...runtime.gpu.device import lacking_here
from .. import arguments
from ..report import describe, spell_signature
from ..spelling import section


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("package", metavar="OUT.trv", help="the package to describe")
    arguments.add_key_argument(parser)


def run(flags: argparse.Namespace) -> None:
    """Print the description; the package is checked, but not made ready to run."""
    package = arguments.open_package(flags, flags.package)
    print(describe(flags.package, package.manifest, lacking, lacking_here))
    print(section("signature", [spell_signature(package.signature, bool(flags.verify_key))]))
