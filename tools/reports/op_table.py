"""List ops, where each has a lowering, and the limits of targets: for people and for docs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...dialects.core.op import OPS, Op
from ...dialects.core.tensor import COMPUTED
from ...passes.decompose import decomposition_rules
from ...targets.core import Target
from ...targets.installed import names, shipped, targets
from ...targets.lowering_table import limit_text
from ...targets.placement.place import UNPLACED_OPS
from ...targets.registry import find_target
from ..spelling import columns

STRUCTURE = ("tri.group", "tri.yield")
NO = "-"


@dataclass(frozen=True)
class OpInfo:
    """Describe an op: its operands, attributes and results, and its lowering on each target.

    `limits` are what targets need of an op to run it.
    """

    name: str
    summary: str
    operands: tuple[str, ...]
    attributes: tuple[str, ...]
    results: tuple[str, ...]
    targets: dict[str, str]
    limits: tuple[str, ...]


@dataclass(frozen=True)
class OpsInfo:
    """List ops by name."""

    ops: tuple[OpInfo, ...]


def shipped_targets() -> list[Target]:
    """Return the targets of Trivium whose lowerings do not depend on neighbouring ops."""
    found = [find_target(name) for name in names(shipped(targets()))]
    return [target for target in found if not target.quantized]


def op_classes() -> list[type[Op]]:
    """Return the ops that models are made of."""
    classes = [cls for name, cls in sorted(OPS.items()) if name.startswith("tri.")]
    return [cls for cls in classes if cls.op_name not in STRUCTURE]


def kind_of(cls: type[Op], target: Target) -> str:
    """Return the kind of an op's lowering on a target, or what happens to the op without one."""
    if cls in UNPLACED_OPS:
        return "free"
    if cls in target.lowerings:
        lowering = target.lowerings[cls]
        return getattr(lowering, "kind", "lowered")
    if target.name == "host":
        return "numpy" if cls.reference is not Op.reference else NO
    return "decomposed" if cls in decomposition_rules() else NO


def limits_of(target: Target) -> Iterator[tuple[type[Op], str]]:
    """Yield what a target needs of ops to run them."""
    for cls in sorted({*target.limits, *target.declared}, key=lambda cls: cls.op_name):
        overloads = [each.excluded for each in target.declared.get(cls, ())]
        excluded = set[str]().union(*overloads).intersection(*overloads)
        if listed := [dtype for dtype in COMPUTED if dtype in excluded]:
            yield cls, f"{target.name} takes no elements of {', '.join(listed)}"
        for predicate in target.limits.get(cls, ()):
            yield cls, f"{target.name} {limit_text(predicate)}"


def ops_info(wanted: str = "", target: str = "") -> OpsInfo:
    """Return the ops with `wanted` in their names, or the one that is named so.

    With a `target`, only those that it runs are listed.
    """
    every = shipped_targets()
    limits: dict[type[Op], list[str]] = {}
    for each in every:
        for cls, text in limits_of(each):
            limits.setdefault(cls, []).append(text)
    listed = [_info(cls, every, limits.get(cls, [])) for cls in op_classes()]
    return OpsInfo(
        tuple(
            each
            for each in listed
            if (each.name == wanted if wanted in OPS else wanted in each.name)
            and (not target or each.targets[target] != NO)
        )
    )


def _info(cls: type[Op], every: Sequence[Target], limits: Sequence[str]) -> OpInfo:
    fields = cls.fields
    return OpInfo(
        cls.op_name,
        (cls.__doc__ or "").strip().partition("\n")[0],
        tuple(field.name for field in fields.operands),
        tuple(field.name for field in fields.attributes),
        tuple(field.name for field in fields.results),
        {target.name: kind_of(cls, target) for target in every},
        tuple(limits),
    )


def describe_ops(info: OpsInfo) -> str:
    """Return a row for each op; where there is one alone, its fields and limits, too."""
    if len(info.ops) == 1:
        return _describe(info.ops[0])
    head = ("op", *(info.ops[0].targets if info.ops else ()), "")
    rows = [(op.name, *op.targets.values(), op.summary) for op in info.ops]
    return "\n".join([*columns([head, *rows], ""), f"{len(rows)} ops"])


def _describe(op: OpInfo) -> str:
    return "\n".join(
        [
            f"{op.name}: {op.summary}",
            f"  operands    {', '.join(op.operands) or '-'}",
            f"  attributes  {', '.join(op.attributes) or '-'}",
            f"  results     {', '.join(op.results) or '-'}",
            *(f"  on {name:8} {kind}" for name, kind in op.targets.items()),
            *(f"  {limit}" for limit in op.limits),
        ]
    )
