"""What a run of a suite found: the data of reports. docs/conformance.md has the fields."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

PASSED, REFUSED, WRONG, CRASHED, TIMED_OUT = "passed", "refused", "wrong", "crashed", "timed out"
STATUSES = (PASSED, REFUSED, WRONG, CRASHED, TIMED_OUT)
"""How a case can end; `refused` is a CompileError, `crashed` any other error or a dead process."""


@dataclass(frozen=True)
class CaseResult:
    """How a case ended on a target, what was expected, and the reason where that is no pass."""

    name: str
    operator: str
    target: str
    status: str
    message: str
    seconds: float
    expected: str
    reason: str

    @property
    def is_unexpected(self) -> bool:
        return self.status != self.expected


@dataclass(frozen=True)
class Count:
    """How the cases of an operator ended on a target; `operator` is empty in the sum of all."""

    operator: str
    target: str
    passed: int
    refused: int
    wrong: int
    crashed: int
    timed_out: int

    @property
    def cases(self) -> int:
        return self.passed + self.refused + self.wrong + self.crashed + self.timed_out


@dataclass(frozen=True)
class Change:
    """A case that ended otherwise than in the report before; `now` is null if it is gone."""

    name: str
    target: str
    before: str
    now: str | None

    @property
    def is_regression(self) -> bool:
        return self.before == PASSED and self.now not in (PASSED, None)


@dataclass(frozen=True)
class ConformanceReport:
    """The report of a run; `stale` has the expectations that no case of the suite meets."""

    suite: str
    suite_version: str
    producer: str
    targets: tuple[str, ...]
    totals: tuple[Count, ...]
    operators: tuple[Count, ...]
    unexpected: tuple[CaseResult, ...]
    stale: tuple[str, ...]
    changes: tuple[Change, ...]
    cases: tuple[CaseResult, ...]

    @property
    def is_as_expected(self) -> bool:
        return not self.unexpected and not self.stale and not self.regressions

    @property
    def regressions(self) -> list[Change]:
        return [change for change in self.changes if change.is_regression]


def counts(cases: Sequence[CaseResult], by_operator: bool) -> tuple[Count, ...]:
    """Count how cases ended, by targets and perhaps operators, in the order of their names."""

    def key(case: CaseResult) -> tuple[str, str]:
        return (case.operator if by_operator else "", case.target)

    keys = sorted({key(case) for case in cases}, key=lambda k: (k[0].lower(), k))
    return tuple(Count(*each, *_by_status(cases, lambda c, e=each: key(c) == e)) for each in keys)


def _by_status(cases: Iterable[CaseResult], keep: Callable[[CaseResult], bool]) -> list[int]:
    found = [case.status for case in cases if keep(case)]
    return [found.count(status) for status in STATUSES]
