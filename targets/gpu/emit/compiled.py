"""`Compiled`: a kernel as code that a GPU runs."""

import json
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Descriptor:
    """The blocks that a kernel copies through a tensor descriptor, and their swizzle.

    `swizzle` is a number of the CUDA driver API: 0 for none, 1 to 3 for 32, 64 and 128 bytes.
    """

    block: tuple[int, ...]
    swizzle: int


@dataclass(frozen=True)
class Compiled:
    """The code of one kernel and the parameters of its launch.

    `assembly` is the text that `code` was assembled from. `warps` and `shared_bytes`, those of one
    program, are the values that the compiler chose. `descriptors` are those of the
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
        """Serialise as a line of JSON, the assembly and the code."""
        fields = asdict(self)
        code, assembly = fields.pop("code"), fields.pop("assembly").encode()
        head = json.dumps({**fields, "assembly_bytes": len(assembly)}, sort_keys=True)
        return b"\n".join([head.encode(), assembly + code])

    @staticmethod
    def from_bytes(data: bytes) -> "Compiled":
        """Deserialise the output of `to_bytes`."""
        head, _, rest = data.partition(b"\n")
        fields: dict[str, Any] = json.loads(head)
        size = fields.pop("assembly_bytes")
        found = [Descriptor(tuple(d["block"]), d["swizzle"]) for d in fields["descriptors"]]
        fields["descriptors"] = tuple(found)
        return Compiled(code=rest[size:], assembly=rest[:size].decode(), **fields)
