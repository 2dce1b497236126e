"""The report of a run on a terminal: tables of counts, and what was not expected."""

from typing import IO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .results import PASSED, STATUSES, ConformanceReport, Count

COLORS: dict[str, str] = dict(zip(STATUSES, ("green", "yellow", "red", "red", "red"), strict=True))


def print_report(report: ConformanceReport, file: IO[str] | None = None) -> None:
    """Print counts for each target and for each operator that has cases that do not pass."""
    console = Console(file=file, highlight=False)
    console.print(f"{report.suite_version}, by {report.producer}")
    console.print(_table("target", [(count.target, count) for count in report.totals]))
    rest = [count for count in report.operators if count.passed != count.cases]
    if rest:
        rows = [(f"{count.operator} on {count.target}", count) for count in rest]
        console.print(_table("not all cases pass", rows))
    for result in report.unexpected:
        why = f" ({result.reason})" if result.reason else ""
        console.print(
            Text(f"{result.name} on {result.target}: "),
            Text(result.status, COLORS[result.status]),
            Text(f", expected {result.expected}{why}: {result.message}".rstrip(": ")),
            sep="",
            soft_wrap=True,
        )
    for pattern in report.stale:
        console.print(Text(f"stale expectation: no case is named {pattern}", "red"), soft_wrap=True)
    for change in report.changes:
        color = "red" if change.is_regression else "green" if change.now == PASSED else ""
        line = f"{change.name} on {change.target}: {change.before} before, {change.now or 'gone'}"
        console.print(Text(line, color), soft_wrap=True)
    console.print(_verdict(report))


def _table(title: str, rows: list[tuple[str, Count]]) -> Table:
    table = Table(title, "cases", *STATUSES)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, count in rows:
        numbers = (count.passed, count.refused, count.wrong, count.crashed, count.timed_out)
        cells = [
            Text(str(number) if number else "", COLORS[status])
            for number, status in zip(numbers, STATUSES, strict=True)
        ]
        table.add_row(name, str(count.cases), *cells)
    return table


def _verdict(report: ConformanceReport) -> Text:
    if report.is_as_expected:
        return Text("all cases end as expected", "green")
    found = {
        "unexpected": len(report.unexpected),
        "stale expectations": len(report.stale),
        "regressions": len(report.regressions),
    }
    return Text(", ".join(f"{number} {what}" for what, number in found.items() if number), "red")
