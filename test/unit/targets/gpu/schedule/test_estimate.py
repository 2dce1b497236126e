"""Estimates: shared memory against what Triton takes, and times by what they must prefer."""

from itertools import pairwise

import pytest
from products import FLAT, LARGE, MIDDLE, SMALL, product_kernel
from sources import needs_triton
from trivium.dialects.tile.setting import Setting
from trivium.targets.gpu.emit.compile_sources import Compiled, Job, compile_sources
from trivium.targets.gpu.emit.drop_bounds import drop_bounds
from trivium.targets.gpu.emit.print_kernel import print_kernel
from trivium.targets.gpu.schedule.architecture import ARCHITECTURES, find_architecture
from trivium.targets.gpu.schedule.estimate import estimate_us, rejection, shared_bytes
from trivium.targets.gpu.schedule.work import work_of

HOPPER = find_architecture("sm_90")
SETTINGS = (LARGE, MIDDLE, SMALL, FLAT)


def ranked(rows: int, columns: int, depth: int) -> list[Setting]:
    with product_kernel(rows, columns, depth) as kernel:
        return sorted(SETTINGS, key=lambda s: estimate_us(kernel, s, HOPPER))


def test_work_is_counted_by_hand() -> None:
    """A program of 32x32 over a depth of 256 in steps of 64, of which there are 4 by 2."""
    with product_kernel(128, 64, 256) as kernel:
        work = work_of(kernel, SMALL)
    assert (work.programs, work.iterations, work.rows) == (8, 4, 32)
    assert work.loaded_bytes == 4 * (32 * 64 + 64 * 32) * 2
    assert work.stored_bytes == 32 * 32 * 2
    assert work.products == {"f16": 2 * 32 * 32 * 256}
    assert work.staged == [(32 * 64 * 2, 4)] * 2
    assert work.carried == 32 * 32 * 4
    assert work.buffer_bytes == (128 * 256 + 256 * 64 + 128 * 64) * 2


def test_large_products_want_large_blocks() -> None:
    assert ranked(4096, 4096, 4096)[0] == LARGE
    assert ranked(8192, 1024, 8192)[0] == LARGE


def test_few_programs_want_small_blocks() -> None:
    assert ranked(128, 128, 1024)[-1] == LARGE
    assert ranked(256, 256, 256)[0] in (SMALL, FLAT)


def test_a_flat_product_wants_flat_blocks() -> None:
    assert ranked(16, 4096, 4096)[0] == FLAT


@pytest.mark.parametrize("architecture", [a.name for a in ARCHITECTURES])
def test_more_work_never_takes_less_time(architecture: str) -> None:
    times: list[float] = []
    for size in (128, 256, 512, 1024, 2048, 4096):
        with product_kernel(size, size, size) as kernel:
            times.append(estimate_us(kernel, MIDDLE, find_architecture(architecture)))
    assert all(less <= more for less, more in pairwise(times))


def test_no_product_is_faster_than_the_matrix_units() -> None:
    with product_kernel(8192, 8192, 8192) as kernel:
        least = 2 * 8192**3 / 989e12 * 1e6
        assert all(estimate_us(kernel, s, HOPPER) >= least * 0.99 for s in SETTINGS)


@needs_triton
@pytest.mark.parametrize("name", ["sm_80", "sm_90"])
def test_shared_memory_is_what_triton_takes(name: str) -> None:
    architecture = find_architecture(name)
    jobs: list[Job] = []
    expected: list[int] = []
    for setting in (MIDDLE, SMALL):
        with product_kernel(512, 512, 512) as kernel:
            kernel.use(setting)
            drop_bounds(kernel)
            expected.append(shared_bytes(kernel, setting, architecture))
            jobs.append(Job(print_kernel(kernel), setting.warps, setting.stages))
    made = compile_sources(jobs, architecture)
    assert [m.shared_bytes if isinstance(m, Compiled) else m for m in made] == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "BM=128 BN=128 BK=64 warps=8 stages=8",
            "needs about 262144 bytes of shared memory, sm_90",
        ),
        ("BM=128 BN=128 BK=64 warps=64 stages=2", "has 2048 threads, must have 1024 at most"),
        (
            "BM=2048 BN=1024 BK=16 warps=8 stages=1",
            "a tile has 2097152 elements, must have 1048576",
        ),
    ],
)
def test_says_why_a_setting_does_not_fit(text: str, reason: str) -> None:
    with product_kernel(4096, 4096, 4096) as kernel:
        found = rejection(kernel, Setting.parse(text), HOPPER)
        assert found is not None
        assert reason in found
        assert (
            rejection(kernel, Setting.parse("BM=128 BN=128 BK=64 warps=8 stages=7"), HOPPER) is None
        )
