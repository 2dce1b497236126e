"""List the kernels that targets have for ops, with the element types and limits of each."""

from collections.abc import Collection
from dataclasses import dataclass

from ...dialects.core.op import Op
from ...targets.core import Target
from ...targets.element_types import SETS
from ...targets.lowering_table import limit_text
from ..spelling import columns
from .op_table import kind_of, shipped_targets

AS_IN_THE_MODEL, OWN = "rows", "own"


@dataclass(frozen=True)
class LoweringInfo:
    """Describe what a target has for an op.

    `layout` is that of operands and results: rows, as models have them, or the op's own.
    `types` are the element types that the kernel takes for each of them, `limits` what else must
    hold of an op.
    """

    target: str
    op: str
    kind: str
    layout: str
    types: dict[str, tuple[str, ...]]
    limits: tuple[str, ...]


@dataclass(frozen=True)
class LoweringsInfo:
    """List kernels by target and op."""

    kernels: tuple[LoweringInfo, ...]


def lowerings_info(target: str = "", dtype: str = "", op: str = "") -> LoweringsInfo:
    """Return the kernels of a target, on an element type, and of ops with a text in their names.

    An empty text chooses all; `op` may be the whole name of one.
    """
    found = [
        _info(each, cls)
        for each in shipped_targets()
        for cls in sorted(each.lowerings, key=lambda cls: cls.op_name)
        if target in ("", each.name)
    ]
    if any(kernel.op == op for kernel in found):
        found = [kernel for kernel in found if kernel.op == op]
    return LoweringsInfo(
        tuple(
            kernel
            for kernel in found
            if op in kernel.op and (not dtype or any(dtype in t for t in kernel.types.values()))
        )
    )


def _info(target: Target, cls: type[Op]) -> LoweringInfo:
    declared = target.declared[cls]
    fields = (*cls.fields.operands, *cls.fields.results)
    return LoweringInfo(
        target.name,
        cls.op_name,
        kind_of(cls, target),
        OWN if cls.dialect.name == target.name else AS_IN_THE_MODEL,
        {field.name: tuple(declared.of(field.name)) for field in fields},
        tuple(map(limit_text, target.limits.get(cls, ()))),
    )


def describe_lowerings(info: LoweringsInfo) -> str:
    """Return a row for each kernel; of one op alone, the types of each operand and result."""
    ops = {kernel.op for kernel in info.kernels}
    if len(ops) == 1:
        return "\n\n".join(map(_describe, info.kernels))
    head = ("target", "kernel", "kind", "layout", "types", "")
    rows = [
        (each.target, each.op, each.kind, each.layout, _spell_all(each), "; ".join(each.limits))
        for each in info.kernels
    ]
    used = {row[4] for row in rows}
    sets = [f"{name}: {', '.join(types)}" for name, types in SETS.items() if name in used]
    return "\n".join([*columns([head, *rows], ""), f"{len(rows)} kernels", *sets])


def _describe(kernel: LoweringInfo) -> str:
    rows = [(name, ", ".join(types)) for name, types in kernel.types.items()]
    return "\n".join(
        [
            f"{kernel.op} on {kernel.target}: {kernel.kind}, layout {kernel.layout}",
            *columns(rows),
            *(f"  it {limit}" for limit in kernel.limits),
        ]
    )


def _spell_all(kernel: LoweringInfo) -> str:
    """Spell the types of all operands and results that have the same, then those that differ."""
    sets = list(dict.fromkeys(kernel.types.values()))
    if len(sets) == 1:
        return _spell(sets[0])
    return "; ".join(f"{name} {_spell(types)}" for name, types in kernel.types.items())


def _spell(types: Collection[str]) -> str:
    """Return the name of a set of types, or all of them."""
    return next((name for name, each in SETS.items() if set(each) == set(types)), " ".join(types))
