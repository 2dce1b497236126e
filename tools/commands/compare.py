"""Run two packages of a model, and say how far their values are apart, the furthest first.

A and B are packages (.trv) or models, which are compiled as the flags say, with all values kept. So
`trivium compare net.onnx half.trv --random` shows where a package loses accuracy. Packages have the
values that they were compiled to --keep, and their outputs.
"""

import argparse
from typing import TYPE_CHECKING

from .. import arguments, feeds
from ..given_package import ALL, compiled_package

if TYPE_CHECKING:
    from ...runtime.package import Package


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help=f"a package (.trv), or {arguments.MODEL}")
    parser.add_argument("second", metavar="B", help="another one, of the same inputs")
    arguments.add_input_arguments(parser)
    arguments.add_json_argument(parser)
    arguments.add_load_arguments(parser)
    arguments.add_compile_arguments(parser)


def run(flags: argparse.Namespace) -> None:
    """Print the values of both; raise RunError where no value is in both."""
    from ...runtime.observe.statistics import compare_values
    from ...runtime.session import Session
    from ..reports.json_report import json_text
    from ..reports.statistics_report import comparison_info, describe_comparison

    paths = flags.first, flags.second
    if all(map(arguments.is_package, paths)):
        if given := arguments.given_compile_arguments(flags):
            flags.refuse(f"{', '.join(given)}: both packages are compiled already")
    elif not any(map(arguments.is_package, paths)):
        arguments.refuse_key(flags, flags.first)
    options = arguments.session_options(flags)
    first, second = (Session(_package(flags, path), **options) for path in paths)
    given = feeds.of_run(first.manifest, flags.input_files, flags.random)
    info = comparison_info(paths, compare_values(first, second, given))
    print(json_text("compare", info) if flags.json else describe_comparison(info))


def _package(flags: argparse.Namespace, path: str) -> "Package":
    if arguments.is_package(path):
        return arguments.open_package(flags, path)
    return compiled_package(flags, path, keep=ALL)
