"""The manifest of a container: a JSON document that describes its programs."""

import json
from collections.abc import Sequence
from typing import Any

from ....dialects.core.errors import Invalid
from .contents import Container, Relocation
from .document import as_list, as_number, as_table, as_text
from .ports import from_table, to_table

ENTRIES = ("programs", "starts")
"""The entries of a manifest."""

PROGRAM_ENTRIES = ("code", "inputs", "nodes", "outputs", "regions", "relocations", "sizes")
"""The entries of a program; `code` are its bytes of the code."""


def write_manifest(programs: Sequence[Container]) -> bytes:
    """Return the text of programs that share their constants; equal programs give equal texts."""
    table = {"programs": [*map(_table, programs)], "starts": programs[0].starts}
    return json.dumps(table, sort_keys=True).encode()


def _table(program: Container) -> dict[str, Any]:
    return {
        "code": len(program.code),
        "inputs": to_table(program.inputs),
        "nodes": program.nodes,
        "outputs": to_table(program.outputs),
        "regions": program.regions,
        "relocations": [[r.offset, r.field, r.region] for r in program.relocations],
        "sizes": program.sizes,
    }


def read_manifest(text: bytes, constants: bytes, code: bytes) -> tuple[Container, ...]:
    """Return the programs that a manifest describes, with their parts of the code.

    Raises Invalid for a document of another form, ValueError or RecursionError for none.
    """
    table = as_table(json.loads(text), "manifest", ENTRIES)
    starts = tuple(as_number(each, "starts") for each in as_list(table["starts"], "starts"))
    made: list[Container] = []
    end = 0
    for number, entry in enumerate(as_list(table["programs"], "programs")):
        where = f"programs[{number}]"
        described = as_table(entry, where, PROGRAM_ENTRIES)
        start, size = end, as_number(described["code"], "code")
        end += size
        if size < 0 or end > len(code):
            raise Invalid(f"'{where}' has {size} bytes of code, {len(code) - start} are left")
        made.append(_program(described, constants, code[start:end], starts))
    if end != len(code):
        raise Invalid(f"'programs' have {end} bytes of code, must have all {len(code)}")
    return tuple(made)


def _program(
    table: dict[str, Any], constants: bytes, code: bytes, starts: tuple[int, ...]
) -> Container:
    moved = [_relocation(entry) for entry in as_list(table["relocations"], "relocations")]
    nodes = [as_text(node, "nodes") for node in as_list(table["nodes"], "nodes")]
    inputs, outputs = (from_table(table[kind], kind) for kind in ("inputs", "outputs"))
    regions, sizes = (_numbers(table[kind], kind) for kind in ("regions", "sizes"))
    return Container(
        *(regions, constants, code, tuple(moved), tuple(nodes), inputs, outputs, starts, sizes)
    )


def _numbers(table: object, kind: str) -> dict[str, int]:
    return {name: as_number(size, name) for name, size in as_table(table, kind, ()).items()}


def _relocation(entry: object) -> Relocation:
    values = as_list(entry, "relocations")
    if len(values) != 3:
        raise Invalid(f"'relocations' has {len(values)} values in one of them, must have 3")
    offset, field, region = values
    return Relocation(
        as_number(offset, "offset"), as_text(field, "field"), as_text(region, "region")
    )
