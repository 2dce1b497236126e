"""Describe a package: what goes in and out, what runs where, memory and sizes."""

import argparse

from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("package", metavar="OUT.trv", help="the package to describe")
    arguments.add_json_argument(parser)
    arguments.add_key_argument(parser)


def run(flags: argparse.Namespace) -> None:
    """Print the description; the package is checked, but not made ready to run."""
    from ..report import describe
    from ..reports.json_report import json_text
    from ..reports.package_info import package_info, signature_info

    package = arguments.open_package(flags, flags.package)
    signature = signature_info(package, bool(flags.verify_key))
    info = package_info(flags.package, package.manifest, signature)
    print(json_text("info", info.document()) if flags.json else describe(info))
