"""The body of an op: a region of one block, which ends in the terminator of the op."""

from .errors import Invalid
from .mlir import ir
from .op import OPS


def check_body(operation: ir.Operation, last: str) -> None:
    """Raise Invalid unless an op has a body of one block that ends, once, in the op `last`."""
    if len(operation.regions) != 1:
        raise Invalid(f"has {len(operation.regions)} regions, must have 1")
    check_region(operation.regions[0], last)


def check_region(region: ir.Region, *lasts: str) -> None:
    """Raise Invalid unless a region is one block that ends, once, in an op of the given names."""
    blocks = region.blocks
    if len(blocks) != 1:
        raise Invalid(f"has {len(blocks)} blocks in its body, must have 1")
    names = [inner.operation.name for inner in blocks[0].operations]
    if not {*names[-1:]} & {*lasts}:
        end = f"'{names[-1]}'" if names else "nothing"
        must = " or ".join(f"'{last}'" for last in lasts)
        raise Invalid(f"body ends in {end}, must end in {must}")
    for name in names[:-1]:
        if name in OPS and OPS[name].terminator:
            raise Invalid(f"body goes on after '{name}'")
