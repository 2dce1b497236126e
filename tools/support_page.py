"""Write the page support.md: where each op runs, and which operators are read, from registries."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..targets.core import Target
from .conformance.summary import Summary
from .reports.op_table import kind_of, limits_of, op_classes, shipped_targets
from .spelling import markdown_table

if TYPE_CHECKING:
    from ..compiler.frontends.torch.registry import Rule

OF_PNNX, OF_ATEN = ("pnnx.", "prim::", "nn.", "torchvision."), ("aten::", "prims::")
"""How types of operators begin that only files of PNNX have, and those of programs of torch."""

KINDS = """
On a target, an op has a lowering of one kind (`targets/cpu/registry.py` describes those of the
CPU), is *decomposed* into ops that have one, or (`-`) goes to the host, where numpy computes it.
Some need no code: they are *free*. `trivium check MODEL` says what happens to the ops of a model.

Accelerators are not in the table: whether one runs an op of a quantised model depends on the ops
around it and on the sizes. `trivium can-run MODEL --target NAME` reports it for each node.
"""

TORCH = """
Programs of `torch.export` have operators of ATen, PNNX files functions and methods of torch: one
rule serves both. An operator without an overload stands for all of them that are not listed. torch
takes others apart where it can; `cond`, `while_loop`, `scan` and `map` become ops with bodies.
"""

PNNX = """
PNNX files have the functions and methods above, these modules, and operators of their own. Of those
below them that are refused, each says why.
"""


def support_page(notice: str) -> str:
    """List the lowerings of ops per target, the limits, and the operators of all frontends."""
    kinds = shipped_targets()
    conformance = Summary.of_suite("onnx")
    rows = [(f"`{cls.op_name}`", *(kind_of(cls, each) for each in kinds)) for cls in op_classes()]
    parts = [
        "# Support",
        notice,
        "## Ops",
        KINDS.strip(),
        markdown_table(["op", *(target.name for target in kinds)], rows),
        "## Limits",
        _bullets(_limits(kinds)) or "There are none.",
        "## ONNX operators",
        "An operator is read from the first of these opset versions on. Operators that ONNX\n"
        "defines by others are read, too: their definition is.",
        _summary_text(conformance),
        markdown_table(
            ["operator", "opset versions", "cases", *conformance.passed], _onnx_rows(conformance)
        ),
        "## Torch operators",
        TORCH.strip(),
        markdown_table(["operator", "of ATen", "in PNNX files"], _torch_rows()),
        "## PNNX operators",
        PNNX.strip(),
        ", ".join(f"`{type_}`" for type_ in _pnnx_types()),
        _bullets(_pnnx_refusals()),
    ]
    return "\n\n".join(parts) + "\n"


def _limits(targets: Sequence[Target]) -> Iterator[str]:
    for target in targets:
        for cls, text in limits_of(target):
            yield f"`{cls.op_name}`: {text}"


def _summary_text(found: Summary) -> str:
    cases = sum(found.cases.values())
    sums = [f"{sum(passed.values())} on {name}" for name, passed in found.passed.items()]
    return (
        f"ONNX's own suite ({found.suite_version}) has {cases} cases. Of these pass, by count of\n"
        f"`trivium conformance`: {', '.join(sums)}. Operators without a version are\n"
        "read by their definition; a name in lower case is a kind of cases that are about several\n"
        "operators. ONNX has no cases of `com.microsoft`: tests compare with ONNX Runtime."
    )


def _onnx_rows(found: Summary) -> Iterator[tuple[str, ...]]:
    from ..compiler.frontends.onnx.registry import RULES

    since = {
        (f"{domain}::{op_type}" if domain else op_type): ", ".join(str(r.since) for r in rules)
        for (domain, op_type), rules in RULES.items()
    }
    for name in sorted({*since, *found.cases}):
        passed = (str(of[name]) if name in of else "" for of in found.passed.values())
        yield f"`{name}`", since.get(name, ""), str(found.cases.get(name, "")), *passed


def _torch_rows() -> Iterator[tuple[str, str, str]]:
    """Yield each function of torch, the operators of ATen that it is, and its forms in PNNX."""
    from ..compiler.frontends.torch.aten import aten_rule
    from ..compiler.frontends.torch.registry import RULES

    by_name: dict[str, list[str]] = {}
    for type_, rule in RULES.items():
        if not _is_of_pnnx(type_, rule):
            by_name.setdefault(_torch_name(type_), []).append(type_)
    for name, types in sorted(by_name.items()):
        overloads = {each for each in types if each.startswith(OF_ATEN)}
        forms = [each for each in types if each not in overloads]
        overloads |= {packet for type_ in forms if aten_rule(packet := _packet(type_))}
        yield f"`{name}`", _quoted(overloads), _quoted(forms)


def _packet(type_: str) -> str:
    """Return the operator of ATen that a function is: `aten::linalg_inv` for `torch.linalg.inv`."""
    name = type_.removeprefix("torch.") if type_.count(".") > 1 else type_.partition(".")[2]
    return f"aten::{name.replace('.', '_')}"


def _torch_name(type_: str) -> str:
    """Return the name of an operator without its namespace and overload: `add`."""
    namespace, _, name = type_.rpartition("::")
    return name.partition(".")[0] if namespace else type_.rpartition(".")[2]


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _is_of_pnnx(type_: str, rule: "Rule") -> bool:
    return type_.startswith(OF_PNNX) or ".frontends.pnnx." in rule.function.__module__


def _pnnx_types() -> list[str]:
    from ..compiler.frontends.pnnx import rules as rules
    from ..compiler.frontends.pnnx.format.operator import ATTRIBUTE, INPUT, OUTPUT
    from ..compiler.frontends.torch.registry import RULES

    own = (type_ for type_, rule in RULES.items() if _is_of_pnnx(type_, rule))
    return sorted([*own, INPUT, OUTPUT, ATTRIBUTE])


def _pnnx_refusals() -> Iterator[str]:
    from ..compiler.frontends.torch.registry import REFUSED

    for type_, reason in sorted(REFUSED.items()):
        yield f"`{type_}` {reason}"


def _bullets(lines: Iterator[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
