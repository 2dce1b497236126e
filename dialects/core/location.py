"""Locations carry identity: the source nodes that an op implements, and the source values it makes.

One op of the source is `"Conv_12"("conv12_out")`: the node's name, and as its child the name of
the value that the op's result equals (several results: a fused child, one name each, in order).
A rewrite fuses the locations of all it replaces and puts the one whose value it still computes
last: `fused["Conv_12"("conv12_out"), "Relu_13"("relu13_out")]` computes `relu13_out`.
"""

from collections.abc import Sequence

from .mlir import ir


def node_location(node: str, values: Sequence[str] = ()) -> ir.Location:
    """Make the location of a source node whose results are the named source values."""
    if not values:
        return ir.Location.name(node)
    names = [ir.Location.name(value) for value in values]
    return ir.Location.name(node, names[0] if len(names) == 1 else ir.Location.fused(names))


def fuse_locations(locations: Sequence[ir.Location]) -> ir.Location:
    """Join the locations of replaced ops; the last one names the values that remain."""
    unique: dict[str, ir.Location] = {}
    for location in locations:
        for part in _parts(location):
            unique.pop(str(part), None)
            unique[str(part)] = part
    parts = list(unique.values())
    return parts[0] if len(parts) == 1 else ir.Location.fused(parts)


def inner_location(location: ir.Location) -> ir.Location:
    """Keep the nodes of a location and drop its values: for a helper op inside a rewrite."""
    nodes = node_names(location)
    if not nodes:
        return location
    return fuse_locations([ir.Location.name(node) for node in nodes])


def node_names(location: ir.Location) -> tuple[str, ...]:
    """List the source nodes of a location, without repeats."""
    names = [p.name_str for p in _parts(location) if isinstance(p, ir.NameLoc)]
    return tuple(dict.fromkeys(names))


def value_names(location: ir.Location) -> tuple[str, ...]:
    """List the source values that the op at a location computes, one for each result, or none."""
    parts = _parts(location)
    last = parts[-1] if parts else location
    if not isinstance(last, ir.NameLoc):
        return ()
    return tuple(p.name_str for p in _parts(last.child_loc) if isinstance(p, ir.NameLoc))


def describe(location: ir.Location) -> str:
    """Name a location for the user: its source nodes, or its place in a file of IR."""
    if names := node_names(location):
        return ", ".join(names)
    for part in reversed(_parts(location)):
        if isinstance(part, ir.FileLineColLoc):
            return f"{part.filename}:{part.start_line}:{part.start_col}"
    return ""


def _parts(location: ir.Location) -> list[ir.Location]:
    if isinstance(location, ir.FusedLoc):
        return [part for inner in location.locations for part in _parts(inner)]
    return [] if isinstance(location, ir.UnknownLoc) else [location]
