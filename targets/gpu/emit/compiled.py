"""`Compiled`: a kernel as code that a GPU runs."""

import json
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Descriptor:
    """Say which boxes a kernel moves through a tensor descriptor, and how they lie in its memory.

    `swizzle` is a number of the CUDA driver API: 0 for none, 1 to 3 for 32, 64 and 128 bytes.
    """

    block: tuple[int, ...]
    swizzle: int


@dataclass(frozen=True)
class Compiled:
    """Hold the code of one kernel and what a launch must know of it.

    `assembly` is the text that `code` was assembled from. `warps` and `shared_bytes`, those of one
    program, are what the compiler made of what it was asked for. `descriptors` are those of the
    parameters that are tensor descriptors, in order.
    """

    code: bytes
    assembly: str
    function: str
    warps: int
    shared_bytes: int
    descriptors: tuple[Descriptor, ...]
    triton: str

    def to_bytes(self) -> bytes:
        """Write all of it as bytes: a line of JSON, the assembly, the code."""
        fields = asdict(self)
        code, assembly = fields.pop("code"), fields.pop("assembly").encode()
        head = json.dumps({**fields, "assembly_bytes": len(assembly)}, sort_keys=True)
        return b"\n".join([head.encode(), assembly + code])

    @staticmethod
    def from_bytes(data: bytes) -> "Compiled":
        """Read what `to_bytes` wrote."""
        head, _, rest = data.partition(b"\n")
        fields: dict[str, Any] = json.loads(head)
        size = fields.pop("assembly_bytes")
        found = [Descriptor(tuple(d["block"]), d["swizzle"]) for d in fields["descriptors"]]
        fields["descriptors"] = tuple(found)
        return Compiled(code=rest[size:], assembly=rest[:size].decode(), **fields)
