"""Machines that multiply words of bytes by different instructions."""

from trivium.dialects.core.machine import NATIVE, Machine, host_machine


def with_features(features: tuple[str, ...], vector_bytes: int) -> Machine:
    """Return the CPU at hand as if it had no more than these for products of words."""
    return Machine(NATIVE, "", features, vector_bytes, 32 if vector_bytes == 64 else 16)


MACHINES = [
    with_features((), 16),
    with_features(("avx512_vnni", "avx512vl"), 16),
    with_features(("avx_vnni",), 16),
    with_features(("avx512_bf16", "avx512vl"), 16),
    with_features(("avx2", "fma"), 32),
    with_features(("avx2", "avx_vnni"), 32),
    with_features(("avx2", "avx512_vnni", "avx512_bf16", "avx512vl"), 32),
    with_features(("avx512f",), 64),
    with_features(("avx512f", "avx512bw"), 64),
    with_features(("avx512f", "avx512_vnni", "avx512_bf16"), 64),
]


def runs_here(machine: Machine) -> bool:
    host = host_machine()
    return {*machine.features} <= {*host.features} and machine.vector_bytes <= host.vector_bytes


def spell(machine: Machine) -> str:
    return "-".join([str(machine.vector_bytes), *machine.features])
