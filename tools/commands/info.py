"""Describe a package: what goes in and out, what runs where, memory and sizes."""

import argparse

from .. import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        metavar="MODEL",
        help=f"the package (.trv) to describe, or {arguments.MODEL}, which is compiled",
    )
    parser.add_argument(
        "--memory",
        action="store_true",
        help="compare what each memory strategy takes for the values of a run (docs/memory.md)",
    )
    arguments.add_json_argument(parser)
    arguments.add_key_argument(parser)
    arguments.add_compile_arguments(parser)


def run(flags: argparse.Namespace) -> None:
    """Print the description; the package is checked, but not made ready to run."""
    from ..given_package import given_package
    from ..report import describe
    from ..reports.json_report import json_text
    from ..reports.package_info import package_info, signature_info

    package = given_package(flags)
    if flags.memory:
        from ..reports.memory_strategies import describe_strategies, memory_strategies

        compared = memory_strategies(flags.model, package)
        text = json_text("info --memory", compared) if flags.json else describe_strategies(compared)
        print(text)
        return
    signature = signature_info(package, bool(flags.verify_key))
    info = package_info(flags.model, package.manifest, signature)
    print(json_text("info", info.document()) if flags.json else describe(info))
