"""List the kernels that targets have for ops, with the types, layouts and limits of each."""

from collections.abc import Collection
from dataclasses import dataclass

from ...dialects.core.op import Op
from ...targets.core import Target
from ...targets.element_types import LAYOUTS, ROWS, SETS, ElementTypes
from ...targets.lowering_table import limit_text
from ..spelling import columns
from .op_table import kind_of, shipped_targets


@dataclass(frozen=True)
class LoweringInfo:
    """Describe what a target has for an op, or one overload of it.

    `layouts` says how each operand and result is stored, one of `LAYOUTS`; `types` are the element
    types that the kernel takes for it, `limits` what else must hold of an op.
    """

    target: str
    op: str
    kind: str
    layouts: dict[str, str]
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
        _info(each, cls, types)
        for each in shipped_targets()
        for cls in sorted(each.lowerings, key=lambda cls: cls.op_name)
        for types in each.declared[cls]
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


def _info(target: Target, cls: type[Op], declared: ElementTypes) -> LoweringInfo:
    fields = (*cls.fields.operands, *cls.fields.results)
    return LoweringInfo(
        target.name,
        cls.op_name,
        kind_of(cls, target),
        {field.name: declared.layout(field.name) for field in fields},
        {field.name: tuple(declared.of(field.name)) for field in fields},
        tuple(map(limit_text, target.limits.get(cls, ()))),
    )


def describe_lowerings(info: LoweringsInfo) -> str:
    """Return a row for each kernel; of one op alone, the types of each operand and result."""
    ops = {kernel.op for kernel in info.kernels}
    if len(ops) == 1:
        return "\n\n".join(map(_describe, info.kernels))
    head = ("target", "kernel", "kind", "layouts", "types", "")
    rows = [
        (e.target, e.op, e.kind, _spell_layouts(e), _spell_all(e), "; ".join(e.limits))
        for e in info.kernels
    ]
    used = {row[4] for row in rows}
    sets = [f"{name}: {', '.join(types)}" for name, types in SETS.items() if name in used]
    stored = {layout for kernel in info.kernels for layout in kernel.layouts.values()}
    layouts = [f"{name}: {meaning}" for name, meaning in LAYOUTS.items() if name in stored]
    return "\n".join([*columns([head, *rows], ""), f"{len(rows)} kernels", *sets, *layouts])


def _describe(kernel: LoweringInfo) -> str:
    rows = [(name, kernel.layouts[name], ", ".join(t)) for name, t in kernel.types.items()]
    return "\n".join(
        [
            f"{kernel.op} on {kernel.target}: {kernel.kind}",
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


def _spell_layouts(kernel: LoweringInfo) -> str:
    """Spell the layout of all fields, or those that are not the model's: `x blocked, w packed`."""
    if len(every := {*kernel.layouts.values()}) == 1:
        return every.pop()
    own = [f"{name} {each}" for name, each in kernel.layouts.items() if each != ROWS]
    return ", ".join(own) or ROWS


def _spell(types: Collection[str]) -> str:
    """Return the name of a set of types, or all of them."""
    return next((name for name, each in SETS.items() if set(each) == set(types)), " ".join(types))
