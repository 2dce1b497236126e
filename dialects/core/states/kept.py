"""Values that a session keeps: outputs of a function that a run does not return.

func.func @main(…) attributes {trivium.outputs = ["y", "a"], trivium.kept = ["a"]}
"""

from collections.abc import Sequence

from ..attributes import from_attribute, to_attribute
from ..errors import Invalid
from ..mlir import ir
from ..port_names import port_names

KEPT = "trivium.kept"
"""The attribute of a function that names the outputs that are kept."""


def kept_of(function: ir.Operation) -> tuple[str, ...]:
    """Return the names of the outputs that are kept; raise Invalid for what are no names."""
    if KEPT not in function.attributes:
        return ()
    try:
        return from_attribute(function.attributes[KEPT], tuple[str, ...])
    except (Invalid, TypeError):
        raise Invalid(f"attribute '{KEPT}' must be an array of strings") from None


def is_kept(value: ir.Value) -> bool:
    """Return whether a session keeps a value of a function: it must be there as it is named."""
    for use in value.uses:
        end = use.owner.operation
        if end.name == "func.return" and KEPT in end.parent.attributes:
            name = _outputs(end.parent)[use.operand_number]
            if name in kept_of(end.parent):
                return True
    return False


def set_kept(function: ir.Operation, names: Sequence[str]) -> None:
    """Write which outputs are kept."""
    function.attributes[KEPT] = to_attribute(tuple(names), tuple[str, ...])


def check_kept(function: ir.Operation) -> None:
    """Raise Invalid unless each value that is kept is an output, and named once."""
    kept = kept_of(function)
    outputs = _outputs(function) if kept else ()
    for number, name in enumerate(kept):
        if name not in outputs or name in kept[:number]:
            raise Invalid(f"keeps '{name}' in '{KEPT}', must be an output, and there once")


def _outputs(function: ir.Operation) -> tuple[str, ...]:
    return port_names(function, "outputs") or ()
