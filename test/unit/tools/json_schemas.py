"""The schemas of reports as docs/reports.md writes them, read from the classes of the reports."""

import dataclasses
import types
import typing
from typing import Any

from trivium.runtime.contents import Part
from trivium.runtime.cpu.report import CpuReport
from trivium.runtime.report import PartReport
from trivium.tools.bench.reports import BenchReport, KernelsReport
from trivium.tools.conformance.results import ConformanceReport
from trivium.tools.reports.kernel_table import LoweringsInfo
from trivium.tools.reports.memory_strategies import MemoryStrategiesInfo
from trivium.tools.reports.op_table import OpsInfo
from trivium.tools.reports.package_info import PackageInfo
from trivium.tools.reports.placement_report import NodeReports, Placements
from trivium.tools.reports.profile_report import ProfileInfo
from trivium.tools.reports.simulation import SimulationReport
from trivium.tools.reports.sizes_report import SizesInfo
from trivium.tools.reports.statistics_report import ComparisonInfo, StatisticsInfo

ROOTS: dict[str, type[Any]] = {
    "info": PackageInfo,
    "info --memory": MemoryStrategiesInfo,
    "check": Placements,
    "can-run": NodeReports,
    "sizes": SizesInfo,
    "bench": BenchReport,
    "bench --kernels": KernelsReport,
    "simulate": SimulationReport,
    "conformance": ConformanceReport,
    "run --profile": ProfileInfo,
    "ops": OpsInfo,
    "run --statistics": StatisticsInfo,
    "compare": ComparisonInfo,
    "kernels": LoweringsInfo,
}
"""The class of the report of each command."""

TYPES_ALONE = {"CpuReport": CpuReport, "PartReport": PartReport}
"""What modules of parts import for their types alone."""

WORDS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def spell_type(kind: Any) -> str:
    """Spell a type of Python as docs/reports.md does."""
    if kind in WORDS:
        return WORDS[kind]
    if dataclasses.is_dataclass(kind):
        return getattr(kind, "__name__", "")
    arguments = typing.get_args(kind)
    if isinstance(kind, types.UnionType):
        words = [spell_type(each) for each in arguments if each is not types.NoneType]
        return " or ".join(words if len(words) == len(arguments) else [*words, "null"])
    if typing.get_origin(kind) is dict:
        return f"object of {spell_type(arguments[1])}"
    return f"list of {spell_type(arguments[0])}"


def sections() -> dict[str, dict[str, str]]:
    """Return the fields of each class by name, with their types; reports by their commands."""
    found: dict[str, dict[str, str]] = {}
    waiting = list(ROOTS.items())
    while waiting:
        title, cls = waiting.pop(0)
        hints = fields_of(cls)
        found[title] = {name: spell_type(hint) for name, hint in hints.items()}
        for inner in map(innermost, hints.values()):
            if dataclasses.is_dataclass(inner):
                name = getattr(inner, "__name__", "")
                if name not in found and name not in dict(waiting):
                    waiting.append((name, typing.cast("type[Any]", inner)))
    return found


def fields_of(cls: type[Any]) -> dict[str, Any]:
    """Return the types of the fields of a report, those of parts in place of `parts`."""
    hints = typing.get_type_hints(cls)
    found = {field.name: hints[field.name] for field in dataclasses.fields(cls)}
    if cls is PackageInfo:
        del found["parts"]
        for kind in Part.built_in():
            report = Part.of_kind(kind).report
            found |= fields_of(typing.get_type_hints(report, localns=TYPES_ALONE)["return"])
    return found


def innermost(kind: Any) -> Any:
    """Return the class that lists, objects and unions of a type hold."""
    inner = [each for each in typing.get_args(kind) if each not in (types.NoneType, ..., str)]
    return innermost(inner[-1]) if inner else kind


def faults(document: Any, title: str, at: str = "") -> list[str]:
    """Return where a JSON document is not what the schema says."""
    schema = sections()[title]
    given = {k: v for k, v in document.items() if at or k not in ("schema", "version")}
    if list(given) != list(schema):
        return [f"{at or title} has {list(given)}, must have {list(schema)}"]
    return [
        fault
        for name, kind in schema.items()
        for fault in value_faults(given[name], kind, f"{at}.{name}")
    ]


def value_faults(value: Any, kind: str, at: str) -> list[str]:
    if kind.endswith(" or null"):
        return [] if value is None else value_faults(value, kind.removesuffix(" or null"), at)
    head, _, inner = kind.partition(" of ")
    if head == "list" and inner and isinstance(value, list):
        return [f for i, each in enumerate(value) for f in value_faults(each, inner, f"{at}[{i}]")]
    if head == "object" and inner and isinstance(value, dict):
        return [f for k, each in value.items() for f in value_faults(each, inner, f"{at}.{k}")]
    if " or " in kind:
        found = [value_faults(value, each, at) for each in kind.split(" or ")]
        return min(found, key=len)
    python = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
    if kind in python:
        right = isinstance(value, python[kind]) and (kind == "boolean") == isinstance(value, bool)
        return [] if right else [f"{at} is {value!r}, must be {kind}"]
    return faults(value, kind, at) if isinstance(value, dict) else [f"{at} must be {kind}"]
