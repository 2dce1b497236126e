"""Write the page support.md: where each op runs, and which operators are read, from registries."""

from collections.abc import Iterator

from ..dialects.core.op import OPS, Op
from ..passes.decompose import decomposition_rules
from ..targets.core import Target
from ..targets.installed import names, shipped, targets
from ..targets.lowering_table import limit_text
from ..targets.placement.place import UNPLACED_OPS
from ..targets.registry import find_target
from .conformance.summary import Summary
from .spelling import markdown_table

STRUCTURE = ("tri.group", "tri.yield")
NO = "-"

KINDS = """
On a target, an op has a lowering of one kind (`targets/cpu/registry.py` describes those of the
CPU), is *decomposed* into ops that have one, or (`-`) goes to the host, where numpy computes it.
Some need no code: they are *free*. `trivium check MODEL` says what happens to the ops of a model.

Accelerators are not in the table: whether one runs an op of a quantised model depends on the ops
around it and on the sizes. `trivium can-run MODEL --target NAME` reports it for each node.
"""


def support_page(notice: str) -> str:
    """List the lowerings of all ops per target, the limits, and the operators of ONNX and PNNX."""
    found = [find_target(name) for name in names(shipped(targets()))]
    kinds = [target for target in found if not target.quantized]
    classes = [cls for name, cls in sorted(OPS.items()) if name.startswith("tri.")]
    ops = [cls for cls in classes if cls.op_name not in STRUCTURE]
    conformance = Summary.of_suite("onnx")
    rows = [(f"`{cls.op_name}`", *(_kind(cls, target) for target in kinds)) for cls in ops]
    parts = [
        "# Support",
        notice,
        "## Ops",
        KINDS.strip(),
        markdown_table(["op", *(target.name for target in kinds)], rows),
        "## Limits",
        _bullets(limit for target in kinds for limit in _limits(target)) or "There are none.",
        "## ONNX operators",
        "An operator is read from the first of these opset versions on. Operators that ONNX\n"
        "defines by others are read, too: their definition is.",
        _summary_text(conformance),
        markdown_table(
            ["operator", "opset versions", "cases", *conformance.passed], _onnx_rows(conformance)
        ),
        "## PNNX operators",
        "These types are read; of those below them that are refused, each says why.",
        ", ".join(f"`{type_}`" for type_ in _pnnx_types()),
        _bullets(_pnnx_refusals()),
    ]
    return "\n\n".join(parts) + "\n"


def _kind(cls: type[Op], target: Target) -> str:
    """Return the kind of an op's lowering on a target, or what happens to the op without one."""
    if cls in UNPLACED_OPS:
        return "free"
    if cls in target.lowerings:
        lowering = target.lowerings[cls]
        return getattr(lowering, "kind", "lowered")
    if target.name == "host":
        return "numpy" if cls.reference is not Op.reference else NO
    return "decomposed" if cls in decomposition_rules() else NO


def _limits(target: Target) -> Iterator[str]:
    for cls, predicates in sorted(target.limits.items(), key=lambda item: item[0].op_name):
        for predicate in predicates:
            yield f"`{cls.op_name}`: {target.name} {limit_text(predicate)}"


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


def _pnnx_types() -> list[str]:
    from ..compiler.frontends.pnnx import rules as rules
    from ..compiler.frontends.pnnx.format.operator import ATTRIBUTE, INPUT, OUTPUT
    from ..compiler.frontends.torch.registry import RULES

    return sorted([*RULES, INPUT, OUTPUT, ATTRIBUTE])


def _pnnx_refusals() -> Iterator[str]:
    from ..compiler.frontends.torch.registry import REFUSED

    for type_, reason in sorted(REFUSED.items()):
        yield f"`{type_}` {reason}"


def _bullets(lines: Iterator[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
