"""Run a suite and make the report."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ...dialects.core.errors import CompileError
from ...version import __version__
from .compilers import check_target
from .expectations import Expectations
from .results import ConformanceReport, counts
from .runs import SECONDS, run_cases
from .suite import open_suite
from .trend import changes, read_baseline


@dataclass(frozen=True)
class Plan:
    """What to run and what to compare it with."""

    suite: str
    targets: Sequence[str]
    folder: Path | None = None
    filters: Sequence[str] = ()
    expectations: Path | None = None
    baseline: Path | None = None
    jobs: int | None = None
    seconds: float = SECONDS
    samples: int | None = None


def conduct(plan: Plan, progress: Callable[[str], None] = lambda stage: None) -> ConformanceReport:
    """Run the cases of a plan; raise CompileError when there is nothing to run, or nowhere."""
    suite = open_suite(plan.suite, plan.folder, plan.samples)
    before = read_baseline(plan.baseline, plan.suite) if plan.baseline else {}
    expected = _expectations(plan)
    for target in plan.targets:
        check_target(target)
    progress(f"read {suite.version}")
    every = suite.cases()
    kept = [case for case in every if _is_wanted(case.name, plan.filters)]
    if not kept:
        raise CompileError(f"no case of suite '{plan.suite}' is named {' or '.join(plan.filters)}")
    jobs = plan.jobs or len(os.sched_getaffinity(0))
    # A folder need not have the cases that Trivium knows of.
    is_whole = plan.folder is None or plan.expectations is not None
    results = run_cases(kept, plan.targets, expected, jobs, plan.seconds, progress)
    return ConformanceReport(
        suite=plan.suite,
        suite_version=suite.version,
        producer=f"trivium {__version__}",
        targets=tuple(plan.targets),
        totals=counts(results, by_operator=False),
        operators=counts(results, by_operator=True),
        unexpected=tuple(result for result in results if result.is_unexpected),
        stale=expected.stale([case.name for case in every]) if is_whole else (),
        changes=changes(before, results, () if plan.filters else plan.targets),
        cases=results,
    )


def _expectations(plan: Plan) -> Expectations:
    if plan.expectations:
        return Expectations.read(plan.expectations)
    return Expectations.of_suite(plan.suite)


def _is_wanted(name: str, filters: Sequence[str]) -> bool:
    return not filters or any(fnmatchcase(name, pattern) for pattern in filters)
