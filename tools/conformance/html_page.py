"""The report of a run as a page of HTML that needs nothing else: no script, style or font."""

from collections.abc import Iterable, Iterator
from html import escape

from .results import PASSED, STATUSES, CaseResult, ConformanceReport, Count

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em;
  color-scheme: light dark }
table { border-collapse: collapse; margin: 1em 0 }
th, td { padding: .2em .8em; text-align: left; border-bottom: 1px solid #8884; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums }
.passed { color: #18794e } .refused { color: #a15c00 }
.wrong, .crashed, .timed-out { color: #c62a2f; font-weight: 600 }
summary { cursor: pointer } code { font-size: 90% }
"""


def html_page(report: ConformanceReport) -> str:
    """Return the page: sums, what was not expected, trend, and all cases by operators."""
    title = f"Conformance: {report.suite_version}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>By {escape(report.producer)}. {_verdict(report)}</p>",
        _counts("target", [(count.target, count) for count in report.totals]),
        *_section("Not as expected", _cases(report.unexpected)),
        *_section("Stale expectations", _list(report.stale)),
        *_section("Changed since the report before", _changes(report)),
        "<h2>Operators</h2>",
        *_operators(report),
    ]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    body = "\n".join(parts)
    lines = ["<!doctype html>", '<html lang="en">', f"<head>{head}</head>"]
    return "\n".join([*lines, f"<body>\n{body}\n</body>", "</html>", ""])


def _verdict(report: ConformanceReport) -> str:
    if report.is_as_expected:
        return "All cases end as expected."
    unexpected, stale = len(report.unexpected), len(report.stale)
    return (
        f"{unexpected} cases end otherwise than expected, {stale} expectations are stale, "
        f"{len(report.regressions)} cases passed before and do not now."
    )


def _section(title: str, content: str) -> Iterator[str]:
    if content:
        yield f"<h2>{title}</h2>"
        yield content


def _counts(title: str, rows: Iterable[tuple[str, Count]]) -> str:
    head = _row("th", [title, "cases", *STATUSES])
    return _table(head, (_count_row(name, count) for name, count in rows))


def _count_row(name: str, count: Count) -> str:
    numbers = (count.passed, count.refused, count.wrong, count.crashed, count.timed_out)
    cells = [
        f'<td class="n {_class(status)}">{number or ""}</td>'
        for status, number in zip(STATUSES, numbers, strict=True)
    ]
    return f'<tr><td>{escape(name)}</td><td class="n">{count.cases}</td>{"".join(cells)}</tr>'


def _operators(report: ConformanceReport) -> Iterator[str]:
    """Write for each operator its counts, and its cases where one opens the line."""
    for name in dict.fromkeys(count.operator for count in report.operators):
        found = [count for count in report.operators if count.operator == name]
        sums = ", ".join(
            f'<span class="{_class(_worst(count))}">{escape(count.target)} '
            f"{count.passed} of {count.cases}</span>"
            for count in found
        )
        cases = _cases(case for case in report.cases if case.operator == name)
        title = f"<summary><code>{escape(name)}</code>: {sums}</summary>"
        yield f"<details>{title}{cases}</details>"


def _worst(count: Count) -> str:
    if count.wrong or count.crashed or count.timed_out:
        return "wrong"
    return PASSED if count.passed == count.cases else "refused"


def _cases(cases: Iterable[CaseResult]) -> str:
    rows = [_case_row(case) for case in cases]
    head = _row("th", ["case", "target", "end", "expected", "seconds", "message"])
    return _table(head, rows) if rows else ""


def _case_row(case: CaseResult) -> str:
    reason = f": {case.reason}" if case.reason else ""
    return (
        f"<tr><td><code>{escape(case.name)}</code></td><td>{escape(case.target)}</td>"
        f'<td class="{_class(case.status)}">{case.status}</td>'
        f'<td>{escape(case.expected + reason)}</td><td class="n">{case.seconds:.2f}</td>'
        f"<td>{escape(case.message)}</td></tr>"
    )


def _changes(report: ConformanceReport) -> str:
    if not report.changes:
        return ""
    head = _row("th", ["case", "target", "before", "now"])
    rows = [
        f"<tr><td><code>{escape(each.name)}</code></td><td>{escape(each.target)}</td>"
        f'<td class="{_class(each.before)}">{escape(each.before)}</td>'
        f'<td class="{_class(each.now or "")}">{escape(each.now or "gone")}</td></tr>'
        for each in report.changes
    ]
    return _table(head, rows)


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li><code>{escape(line)}</code></li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _table(head: str, rows: Iterable[str]) -> str:
    return "<table>\n" + "\n".join([head, *rows]) + "\n</table>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _class(status: str) -> str:
    return status.replace(" ", "-")
