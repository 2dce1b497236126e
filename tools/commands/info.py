"""Describe a package: what goes in and out, what runs where, memory and sizes."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("package", metavar="OUT.trv", help="the package to describe")


def run(flags: argparse.Namespace) -> None:
    """Print the description; the package is checked, but not made ready to run."""
    from ...runtime.cpu import lacking
    from ...runtime.gpu.device import lacking_here
    from ...runtime.package import Package
    from ..report import describe

    print(describe(flags.package, Package.open(flags.package).manifest, lacking, lacking_here))
