"""A small package with symbols whose steps numpy computes, and what it must compute."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from trivium.runtime.contents import (
    ARENA,
    FIRST_PORT,
    Buffer,
    Memory,
    Port,
    Region,
    SizeCheck,
    Symbol,
)
from trivium.runtime.host.step import HostStep
from trivium.runtime.manifest import SYMBOLIC_VERSION, VERSION, ExactProgram, Manifest
from trivium.runtime.package import Package
from trivium.runtime.sizes.fields import with_sizes

X, MASK, Y, Z = range(FIRST_PORT, FIRST_PORT + 4)

DIALECTS: Any = {
    "toy": {
        "toy.double": lambda: SimpleNamespace(reference=lambda x: 2 * x),
        "toy.mask": lambda: SimpleNamespace(reference=lambda x, m: x * m),
        "toy.reshape": lambda shape: SimpleNamespace(reference=lambda x: x.reshape(shape)),
        "toy.halves": lambda start, sizes: SimpleNamespace(
            reference=lambda x: x.reshape(-1)[start : start + sizes[0]] + 1
        ),
    }
}


def symbolic_manifest() -> Manifest:
    """Return the manifest of y = (2 x m) as [T, N] and z = its second half + 1."""
    return Manifest(
        version=SYMBOLIC_VERSION,
        producer="test",
        source="toy.onnx",
        target="host",
        inputs=(Port("x", ("N", "16*T_16"), "float32", 0), Port("m", ("16*T_16",), "float32", 1)),
        outputs=(
            Port("y", ("16*T_16", "N"), "float32", 2),
            Port("z", ("8*N*T_16",), "float32", 3),
        ),
        buffers=(
            Buffer("x", X, 0, ("N", "16*T_16"), "float32"),
            Buffer("m", MASK, 0, ("16*T_16",), "float32"),
            Buffer("y", Y, 0, ("16*T_16", "N"), "float32"),
            Buffer("z", Z, 0, ("8*N*T_16",), "float32"),
            Buffer("doubled", ARENA, 0, ("N", "16*T_16"), "float32"),
            Buffer("masked", ARENA, "at_1", ("N", "16*T_16"), "float32"),
        ),
        memory=Memory(arena_bytes=2 * 64 * 2 * 3, arena_lower_bound=0, weight_bytes=0),
        symbols=(Symbol("N", 1, None, 2), Symbol("T", 0, 512, 48, 16)),
        checks=(SizeCheck("N*T_16 - 1", ">=", "Slice_3", "'toy.halves' op has no elements"),),
        regions=(Region(ARENA, "64*N*T_16", ()), Region(ARENA, "64*N*T_16", (0,))),
        steps=(
            HostStep(op="toy.double", operands=(0,), results=(4,), nodes=("Double_0",)),
            HostStep(op="toy.mask", operands=(4, 1), results=(5,), nodes=("Mask_1",)),
            HostStep(
                op="toy.reshape", sizes={"shape": ("16*T_16", "N")}, operands=(5,), results=(2,)
            ),
            HostStep(
                op="toy.halves",
                attributes={"mode": "N"},
                sizes={"start": "8*N*T_16", "sizes": ("8*N*T_16",)},
                operands=(5,),
                results=(3,),
            ),
        ),
    )


DIALECTS["toy"]["toy.halves"] = lambda mode, start, sizes: SimpleNamespace(
    reference=lambda x: x.reshape(-1)[start : start + sizes[0]] + (mode == "N")
)


def feeds(n: int, t: int) -> dict[str, Any]:
    x = np.arange(n * t, dtype=np.float32).reshape(n, t)
    return {"x": x, "m": (np.arange(t) % 3).astype(np.float32)}


def expected(n: int, t: int) -> dict[str, Any]:
    given = feeds(n, t)
    masked = 2 * given["x"] * given["m"]
    return {"y": masked.reshape(t, n), "z": masked.reshape(-1)[n * t // 2 :] + 1}


def symbolic_package() -> Package:
    return Package.create(symbolic_manifest(), {})


EXACT = ({"N": 2, "T": 32}, {"N": 1, "T": 16})


def exact_manifest(only_exact: bool = False) -> Manifest:
    """Return the manifest with programs for exact sizes, or with these alone."""
    manifest = symbolic_manifest()
    programs = tuple(ExactProgram(sizes, _at(manifest, sizes)) for sizes in EXACT)
    shell: dict[str, Any] = {}
    if only_exact:
        ports = tuple(
            Buffer("", X + i, 0, port.shape, port.dtype)
            for i, port in enumerate((*manifest.inputs, *manifest.outputs))
        )
        shell = {"only_exact": True, "steps": (), "regions": (), "buffers": ports}
        shell["memory"] = replace(manifest.memory, arena_bytes=0)
    return replace(manifest, exact=programs, **shell)


def _at(manifest: Manifest, sizes: Any) -> Manifest:
    """Return the manifest with numbers in place of texts."""
    values = manifest.evaluation.at(sizes)
    memory = replace(manifest.memory, arena_bytes=values.arenas[ARENA])
    static: dict[str, Any] = {"symbols": (), "checks": (), "regions": (), "memory": memory}
    return with_sizes(replace(manifest, version=VERSION, **static), values)
