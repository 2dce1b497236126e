"""Plans on a GPU: tensor maps and a graph of each size, kept while it is one of the last sizes."""

import numpy as np
import pytest
import trivium
from trivium.runtime.gpu.part import GpuPart
from trivium.runtime.gpu.step import GpuStep
from trivium.runtime.package import Package
from trivium.runtime.plans.plan_cache import MOST_PLANS
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.stand_in import StandIn
from trivium.test.unit.targets.gpu.emit.test_symbolic_packages import encoder

CALLS = {
    "maps": "cuTensorMapEncodeTiled",
    "graphs": "cuGraphInstantiate",
    "freed": "cuGraphExecDestroy",
    "launched": "cuGraphLaunch",
}
LARGEST = 512


@pytest.fixture(scope="module")
def package() -> Package:
    """Compile a model of x[N, T, 16], whose product takes its operands by tensor maps."""
    ranges = {"N": 1, "T": trivium.Range(1, 512, likely=64)}
    return trivium.build(encoder(), target="gpu:sm_90", shapes=ranges, precision="tf32")


def run(session: Session, length: int) -> None:
    (y,) = session.run({"x": np.zeros((1, length, 16), np.float32)}).values()
    assert y.shape == (1, length, 24)


class Counter:
    """Count what runs ask of the driver, per map that one plan needs."""

    def __init__(self, package: Package, stand_in: StandIn) -> None:
        (code,) = package.manifest.part(GpuPart).codes
        kernels = {kernel.symbol: kernel for kernel in code.kernels}
        self.stand_in = stand_in
        self.maps = sum(
            parameter.kind == "tensor_map"
            for step in package.manifest.steps
            if isinstance(step, GpuStep)
            for launch in step.launches
            for parameter in kernels[launch.kernel].parameters
        )
        assert self.maps
        self.before = self.now

    @property
    def now(self) -> dict[str, int]:
        assert not self.stand_in.misuses
        return {name: len(self.stand_in.records(call)) for name, call in CALLS.items()}

    def changes(self) -> dict[str, int]:
        """Return what was asked since the last time; maps in those of one plan."""
        before, self.before = self.before, self.now
        new = {name: count - before[name] for name, count in self.before.items()}
        assert new["maps"] % self.maps == 0
        new["maps"] //= self.maps
        return {name: count for name, count in new.items() if count}


@pytest.fixture
def counter(package: Package, stand_in: StandIn) -> Counter:
    return Counter(package, stand_in)


def test_a_size_has_maps_and_a_graph_of_its_own(
    package: Package, stand_in: StandIn, counter: Counter
) -> None:
    with Session(package, device=stand_in.device()) as session:
        for length in (64, 48):
            run(session, length)  # kernel by kernel, so that one that fails is named
            assert counter.changes() == {"maps": 1}
            run(session, length)
            assert counter.changes() == {"graphs": 1, "launched": 1}
        for length in (64, 48, 48, 64):
            run(session, length)
            assert counter.changes() == {"launched": 1}
    assert counter.changes() == {"freed": 2}


def test_the_least_used_size_is_forgotten_with_its_graph(
    package: Package, stand_in: StandIn, counter: Counter
) -> None:
    lengths = range(LARGEST, LARGEST - MOST_PLANS, -1)
    with Session(package, device=stand_in.device()) as session:
        for length in (*lengths, *lengths):
            run(session, length)
        assert counter.changes() == {name: MOST_PLANS for name in ("maps", "graphs", "launched")}
        live = stand_in.live
        run(session, lengths[0])
        run(session, 16)  # in place of the second one, which was used the longest ago
        assert counter.changes() == {"launched": 1, "maps": 1, "freed": 1}
        assert stand_in.live == live - 1
        run(session, lengths[0])
        assert counter.changes() == {"launched": 1}
        for changes in ({"maps": 1, "freed": 1}, {"graphs": 1, "launched": 1}):
            run(session, lengths[1])
            assert counter.changes() == changes
        assert stand_in.live == live - 1


def test_an_arena_that_moves_is_bound_anew(
    package: Package, stand_in: StandIn, counter: Counter
) -> None:
    with Session(package, device=stand_in.device()) as session:
        for length in (16, 16, 24, 24):
            run(session, length)
        assert counter.changes() == {"maps": 2, "graphs": 2, "launched": 2}
        run(session, LARGEST)
        assert counter.changes() == {"maps": 1}
        for length in (16, 24):
            run(session, length)
            assert counter.changes() == {"maps": 1, "graphs": 1, "freed": 1, "launched": 1}
            run(session, length)
            assert counter.changes() == {"launched": 1}


def test_trimming_frees_the_graphs(package: Package, stand_in: StandIn, counter: Counter) -> None:
    with Session(package, device=stand_in.device()) as session:
        run(session, 16)
        live = stand_in.live
        run(session, 16)
        assert stand_in.live == live + 1
        session.trim()
        assert counter.changes() == {"maps": 1, "graphs": 1, "launched": 1, "freed": 1}
        assert stand_in.live == live  # an arena of no bytes is in place of the other
        run(session, 16)
        assert counter.changes() == {"maps": 1}


def test_clones_have_maps_and_graphs_of_their_own(
    package: Package, stand_in: StandIn, counter: Counter
) -> None:
    with Session(package, device=stand_in.device()) as session, session.clone() as clone:
        for each in (session, session, clone):
            run(each, 16)
        assert counter.changes() == {"maps": 2, "graphs": 1, "launched": 1}
