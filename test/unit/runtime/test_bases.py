"""Memory of a session that grows: what is kept, replaced and given back."""

import numpy as np
from trivium.runtime.contents import ARENA, FIRST_PORT
from trivium.runtime.memory import Bases, address_of
from trivium.runtime.plans.buffers import BuffersAt
from trivium.runtime.sizes.values import STATIC
from trivium.test.unit.runtime.symbolic import symbolic_manifest

EMPTY = np.empty(0, np.uint8)


def test_memory_of_threads_is_kept_until_it_is_too_small():
    manifest = symbolic_manifest()
    bases = Bases(manifest, EMPTY, EMPTY)
    assert bases.memory_of_threads(0).size == 0
    first = bases.memory_of_threads(5000)
    assert first.size == 8192
    assert not first.any()
    plan = bases.at(BuffersAt(manifest, STATIC))
    assert plan.memory_of_threads(8192) is first
    larger = plan.memory_of_threads(8193)
    assert larger.size == 16384
    assert bases.memory_of_threads(5000) is larger
    bases.trim()
    assert not np.may_share_memory(bases.memory_of_threads(5000), larger)


def test_memory_of_threads_is_no_arena():
    bases = Bases(symbolic_manifest(), EMPTY, EMPTY)
    bases.grow(100)
    own, arena = bases.memory_of_threads(100), bases.arrays[ARENA]
    assert own.size == arena.size == 128
    assert not np.may_share_memory(own, arena)


def test_a_carried_arena_keeps_its_content_when_it_grows():
    bases = Bases(symbolic_manifest(), EMPTY, EMPTY)
    base, other = FIRST_PORT, FIRST_PORT + 1  # bound as those of loops are, which begin behind
    bases.grow_carried(base, 100)
    bases.arrays[base][:100] = np.arange(100)
    capacity = bases.arrays[base]
    bases.grow_carried(base, 128)
    assert bases.arrays[base] is capacity
    bases.grow_carried(base, 129)
    assert bases.arrays[base].size == 256
    assert list(bases.arrays[base][:100]) == list(range(100))
    bases.grow_carried(other, 64)
    before = bases.arrays[base], bases.arrays[other]
    bases.exchange(base, other)
    assert bases.arrays[other] is before[0]
    assert bases.arrays[base] is before[1]
    assert [bases.pointers[n] for n in (other, base)] == [address_of(each) for each in before]


def test_a_spare_takes_the_place_of_a_carried_arena():
    bases = Bases(symbolic_manifest(), EMPTY, EMPTY)
    bases.grow_carried(FIRST_PORT, 64)
    first, spare = bases.pointers[FIRST_PORT], bases.spare(FIRST_PORT, 64)
    assert spare != first
    bases.use_spare(FIRST_PORT)
    assert bases.pointers[FIRST_PORT] == spare
    assert bases.spare(FIRST_PORT, 64) == first
