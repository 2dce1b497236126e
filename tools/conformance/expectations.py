"""What is expected of cases that cannot pass, with the reasons, from a file."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from ...dialects.core.errors import CompileError
from .results import PASSED, STATUSES

FIELDS = {"cases", "targets", "result", "reason"}
OWN = Path(__file__).with_name("expected")


@dataclass(frozen=True)
class Expectation:
    """Describe how cases end, by patterns of their names and of targets, and why."""

    cases: tuple[str, ...]
    result: str
    reason: str
    targets: tuple[str, ...] = ("*",)

    def matches(self, name: str, target: str) -> bool:
        return _any(self.cases, name) and _any(self.targets, target)


PASSES = Expectation(("*",), PASSED, "")


@dataclass(frozen=True)
class Expectations:
    """The entries of a file. The first one that matches a case holds; without one, it passes."""

    entries: tuple[Expectation, ...] = ()

    @classmethod
    def read(cls, path: Path) -> "Expectations":
        """Read a file of TOML; raise CompileError for one that is not as it must be."""
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise CompileError(f"cannot read '{path}': {error.strerror}") from None
        except ValueError as error:
            raise CompileError(f"'{path}' is no TOML: {error}") from None
        entries = table.get("expected", [])
        if set(table) - {"expected"} or not isinstance(entries, list):
            raise CompileError(f"'{path}' must have nothing but tables [[expected]]")
        listed = enumerate(cast("list[Any]", entries), 1)
        return cls(tuple(_entry(each, f"'{path}': entry {number}") for number, each in listed))

    @classmethod
    def of_suite(cls, suite: str) -> "Expectations":
        """Return what is expected of a suite; of one without a file, that all pass."""
        path = OWN / f"{suite}.toml"
        return cls.read(path) if path.exists() else cls()

    def of(self, name: str, target: str) -> Expectation:
        """Return what is expected of a case on a target."""
        return next((each for each in self.entries if each.matches(name, target)), PASSES)

    def stale(self, names: Collection[str]) -> tuple[str, ...]:
        """Return the patterns that no case of a suite has a name for."""
        patterns = [pattern for each in self.entries for pattern in each.cases]
        return tuple(p for p in patterns if not any(fnmatchcase(name, p) for name in names))


def _entry(table: Mapping[str, Any], where: str) -> Expectation:
    if strange := sorted(set(table) - FIELDS):
        raise CompileError(f"{where} has '{strange[0]}', must have {', '.join(sorted(FIELDS))}")
    cases, targets = table.get("cases", ()), table.get("targets", ("*",))
    result, reason = table.get("result"), table.get("reason")
    if not cases or not _are_texts(cases) or not _are_texts(targets):
        raise CompileError(f"{where} must have lists of patterns as 'cases' and 'targets'")
    if result not in STATUSES or result == PASSED:
        raise CompileError(f"{where} has result '{result}', must be one of {_SPELLED}")
    if not isinstance(reason, str) or not reason:
        raise CompileError(f"{where} has no reason: say why its cases cannot pass")
    return Expectation(tuple(cases), cast("str", result), reason, tuple(targets))


_SPELLED = ", ".join(status for status in STATUSES if status != PASSED)


def _are_texts(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and all(
        isinstance(each, str) for each in cast("list[Any]", values)
    )


def _any(patterns: Collection[str], text: str) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)
