"""Compare a run with the report of an earlier one."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...dialects.core.errors import CompileError
from ..reports.json_report import VERSION
from .results import CaseResult, Change

SCHEMA = "trivium conformance"


def read_baseline(path: Path, suite: str) -> dict[tuple[str, str], str]:
    """Return how each case ended on each target, from a JSON report of the same suite.

    Raises CompileError for another file.
    """
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
        found = {(c["name"], c["target"]): str(c["status"]) for c in document["cases"]}
        head = document["schema"], document["version"], document["suite"]
    except OSError as error:
        raise CompileError(f"cannot read '{path}': {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise CompileError(f"'{path}' is no report of trivium conformance as JSON") from None
    if head != (SCHEMA, VERSION, suite):
        raise CompileError(f"'{path}' is {_spell(*head)}, must be {_spell(SCHEMA, VERSION, suite)}")
    return found


def changes(
    before: Mapping[tuple[str, str], str],
    now: Sequence[CaseResult],
    missing: Collection[str],
) -> tuple[Change, ...]:
    """Return the cases of an earlier report that end otherwise, regressions first.

    A case that did not run is one of them where its target is in `missing`.
    """
    ends = {(case.name, case.target): case.status for case in now}
    found = [
        Change(*key, status, ends.get(key))
        for key, status in before.items()
        if (key in ends and ends[key] != status) or (key not in ends and key[1] in missing)
    ]
    return tuple(sorted(found, key=lambda change: not change.is_regression))


def _spell(schema: object, version: object, suite: object) -> str:
    return f"version {version} of '{schema}' for suite '{suite}'"
