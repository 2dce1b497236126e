"""Memory of a session that grows: what is kept, replaced and given back."""

import numpy as np
from trivium.runtime.contents import ARENA
from trivium.runtime.memory import Bases
from trivium.runtime.plans.buffers import BuffersAt
from trivium.runtime.sizes.values import STATIC
from trivium.test.unit.runtime.symbolic import symbolic_manifest

EMPTY = np.empty(0, np.uint8)


def test_memory_of_threads_is_kept_until_it_is_too_small():
    bases = Bases(symbolic_manifest(), EMPTY, EMPTY)
    assert bases.memory_of_threads(0).size == 0
    first = bases.memory_of_threads(5000)
    assert first.size == 8192
    assert not first.any()
    plan = bases.at(BuffersAt((), STATIC))
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
