"""Run a suite of cases that others wrote on targets, and report what passes, with reasons.

Each case runs in a process of its own kind, so one that crashes or takes too long is a line of the
report. The exit code is 0 when all cases end as expected: a file has the cases that cannot pass,
with the reasons, and an entry of it that no longer holds is a failure, too.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from .. import arguments
from ..progress import shown_progress
from ..terminal import OK, REPORTED

if TYPE_CHECKING:
    from ..conformance.results import ConformanceReport

SUFFIXES = (".html", ".json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--suite", metavar="NAME", default="onnx", help="onnx (the default), pnnx or torch"
    )
    parser.add_argument(
        "--folder", metavar="DIR", type=Path, help="the folder of the cases of suite pnnx"
    )
    parser.add_argument(
        "--samples",
        metavar="N",
        type=arguments.count,
        help="how many samples of each function suite torch runs, 3 by default",
    )
    parser.add_argument(
        "--targets",
        metavar="NAME[,NAME...]",
        type=_targets,
        default=("cpu",),
        help="the targets to compile for, cpu by default; module:function is one of your own",
    )
    parser.add_argument(
        "--filter",
        metavar="GLOB",
        action="append",
        default=[],
        help="run cases of such names alone, test_conv_*; may be given several times",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=arguments.count,
        help="run N cases at a time, by default one for each core",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=arguments.count,
        default=120,
        help="what a case may take, 120 by default",
    )
    parser.add_argument(
        "--expectations",
        metavar="FILE.toml",
        type=Path,
        help="the cases that cannot pass, in place of those that Trivium knows of",
    )
    parser.add_argument(
        "--baseline",
        metavar="OLD.json",
        type=Path,
        help="an earlier report, of which changes are listed; a case that passed there must pass",
    )
    parser.add_argument(
        "--summary", metavar="FILE.json", help="write how many cases of each operator pass"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=_report_path,
        action="append",
        default=[],
        help="write the report as a page (.html) or as data (.json); may be given twice",
    )
    arguments.add_json_argument(parser)


def run(flags: argparse.Namespace) -> int:
    """Run the suite; raise CompileError where it or a target cannot be used."""
    from ...dialects.core.files import write_file
    from ..conformance.conduct import Plan, conduct
    from ..conformance.summary import Summary
    from ..reports.json_report import json_text

    plan = Plan(
        suite=flags.suite,
        targets=flags.targets,
        folder=flags.folder,
        filters=flags.filter,
        expectations=flags.expectations,
        baseline=flags.baseline,
        jobs=flags.jobs,
        seconds=flags.timeout,
        samples=flags.samples,
    )
    with shown_progress() as progress:
        report = conduct(plan, progress)
    for path in flags.output:
        write_file(path, _text(report, path))
    if flags.summary:
        write_file(flags.summary, Summary.of(report).text())
    if flags.json:
        print(json_text("conformance", report))
    else:
        _print(report)
    return OK if report.is_as_expected else REPORTED


def _print(report: "ConformanceReport") -> None:
    from ..conformance.terminal_report import print_report

    print_report(report)


def _text(report: "ConformanceReport", path: str) -> str:
    from ..conformance.html_page import html_page
    from ..reports.json_report import json_text

    return html_page(report) if path.endswith(".html") else json_text("conformance", report)


def _targets(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"'{text}' must be different names, as in host,cpu")
    return names


def _report_path(text: str) -> str:
    if Path(text).suffix not in SUFFIXES:
        raise argparse.ArgumentTypeError(f"'{text}' must end in {' or '.join(SUFFIXES)}")
    return text
