"""A package whose kernels have candidates, on a GPU where each setting takes a time of its own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from trivium.runtime.gpu.code import GpuCode
from trivium.runtime.gpu.part import GpuPart
from trivium.runtime.package import Package
from trivium.test.unit.runtime.gpu.conftest import KERNELS, code, package
from trivium.test.unit.runtime.gpu.stand_in import Run, StandIn, tiny_cubin

BASE = "BM=64 warps=4 stages=2"
"""The setting that both kernels were made with."""


def with_candidates(settings: Mapping[str, tuple[str, ...]], **change: Any) -> Package:
    """Return the package of y = relu(x + w) with other settings for its kernels, by symbol."""
    plain = code("sm_90")
    kernels = tuple(replace(k, setting=BASE, blocks=("BM=64",), stages=2) for k in plain.kernels)
    candidates = tuple(
        replace(k, setting=s, entry=f"gpu/sm_90/{k.symbol}-{i}.cubin", **change)
        for k in kernels
        for i, s in enumerate(settings.get(k.symbol, ()))
    )
    made = package(codes=[GpuCode("sm_90", kernels)])
    # Each has code of its own, by which the driver tells them apart.
    entries = {name: bytes(made.entries[name]) for name in made.entries}
    for number, candidate in enumerate(candidates):
        entries[candidate.entry] = tiny_cubin("add_kernel", "relu_kernel", f"code_{number}")
    parts = (GpuPart((GpuCode("sm_90", kernels, 0, candidates),)),)
    return Package.create(replace(made.manifest, parts=parts, entries=()), entries)


def run_in(
    stand_in: StandIn,
    package: Package,
    times: Mapping[str, float],
    wrong: Mapping[str, float] | None = None,
) -> None:
    """Let kernels take the microseconds of their settings; results of `wrong` ones are off."""

    def execute(run: Run) -> None:
        KERNELS[run.kernel.symbol](*run.arrays)
        error = (wrong or {}).get(run.kernel.setting, 0.0)
        output = run.arrays[-1]
        np.multiply(output, 1 + error, out=output)
        stand_in.spend(times[run.kernel.setting])

    stand_in.execute(package, execute)
