"""A small file of what a run found, which the page of supported operators reads."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .results import PASSED, ConformanceReport

OWN = Path(__file__).with_name("summaries")


@dataclass(frozen=True)
class Summary:
    """The version of a suite, and how many cases of each operator there are and pass by target."""

    suite_version: str
    cases: Mapping[str, int]
    passed: Mapping[str, Mapping[str, int]]

    @classmethod
    def of(cls, report: ConformanceReport) -> "Summary":
        names = sorted({count.operator for count in report.operators})
        return cls(
            report.suite_version,
            {name: len({c.name for c in report.cases if c.operator == name}) for name in names},
            {
                target: {c.operator: c.passed for c in report.operators if c.target == target}
                for target in report.targets
            },
        )

    @classmethod
    def of_suite(cls, suite: str) -> "Summary":
        """Return the one in the tree."""
        document: Any = json.loads((OWN / f"{suite}.json").read_text(encoding="utf-8"))
        cases = {name: entry["cases"] for name, entry in document["operators"].items()}
        targets: list[str] = document["targets"]
        passed = {
            target: {name: entry[PASSED][i] for name, entry in document["operators"].items()}
            for i, target in enumerate(targets)
        }
        return cls(document["suite_version"], cases, passed)

    def text(self) -> str:
        """Return JSON with a line for each operator."""
        rows = [
            f"    {json.dumps(name)}: "
            + json.dumps({"cases": count, PASSED: [of[name] for of in self.passed.values()]})
            for name, count in self.cases.items()
        ]
        head = f'"suite_version": {json.dumps(self.suite_version)}'
        targets = f'"targets": {json.dumps([*self.passed])}'
        body = ",\n".join(rows)
        return f'{{\n  {head},\n  {targets},\n  "operators": {{\n{body}\n  }}\n}}\n'
