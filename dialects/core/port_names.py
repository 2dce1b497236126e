"""The names of the inputs and outputs of a function: its attributes `trivium.inputs` and others."""

from .attributes import from_attribute
from .mlir import ir


def port_names(function: ir.Operation, which: str) -> tuple[str, ...] | None:
    """Return the names of a function's inputs or outputs (`which`), None where it has no names.

    Raises Invalid or TypeError for an attribute that is no array of strings.
    """
    key = f"trivium.{which}"
    if key not in function.attributes:
        return None
    return from_attribute(function.attributes[key], tuple[str, ...])
