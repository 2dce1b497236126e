"""Run cases on targets, each in a process that may crash or take too long without harm."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from ...targets.process_pool import TIMEOUT, ProcessPool, Reply
from .expectations import Expectations
from .results import CRASHED, TIMED_OUT, CaseResult
from .suite import Case

SCRIPT = Path(__file__).with_name("process.py")

START_SECONDS = 60.0
"""What the start of a process may take, before it runs its first case."""

SECONDS = 120.0
"""What a case may take unless the user says otherwise."""


def run_cases(
    cases: Sequence[Case],
    targets: Sequence[str],
    expectations: Expectations,
    jobs: int,
    seconds: float = SECONDS,
    progress: Callable[[str], None] = lambda stage: None,
) -> tuple[CaseResult, ...]:
    """Run all cases on all targets, at most `jobs` at a time; results are in order of the cases."""
    wanted = [(case, target) for case in cases for target in targets]
    replies: dict[int, Reply] = {}

    def take(index: int, reply: Reply) -> None:
        replies[index] = reply
        case, target = wanted[index]
        progress(f"{len(replies)} of {len(wanted)}: {case.name} on {target}")

    requests = [{"case": case, "target": target} for case, target in wanted]
    with closing(ProcessPool(SCRIPT, jobs, START_SECONDS)) as pool:
        pool.run(requests, take, seconds)
    return tuple(
        _result(*wanted[index], replies[index], expectations) for index in range(len(wanted))
    )


def _result(case: Case, target: str, reply: Reply, expectations: Expectations) -> CaseResult:
    status, message = reply.get("status"), reply.get("message", "")
    if status is None:
        status = TIMED_OUT if reply["ended"] == TIMEOUT else CRASHED
        message = reply["error"]
    expected = expectations.of(case.name, target)
    return CaseResult(
        case.name,
        case.operator,
        target,
        status,
        message,
        round(reply.get("seconds", 0.0), 3),
        expected.result,
        expected.reason,
    )
