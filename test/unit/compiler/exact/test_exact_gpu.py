"""Packages for a GPU with programs for exact sizes, or with these alone, on the stand-in."""

from collections.abc import Iterator

import numpy as np
import pytest
from trivium.compiler.driver import build
from trivium.runtime import Package, RunError, Session
from trivium.runtime.gpu.part import GpuPart
from trivium.test.unit.compiler.exact.exact_models import assert_right, feeds, model
from trivium.test.unit.compiler.gpu.gpu_packages import opened
from trivium.test.unit.runtime.gpu.stand_in import StandIn

pytest.importorskip("triton")

SETS = [{"N": 1, "T": 16}, {"N": 2, "T": 5}]


ALONE = "vanilla,gpu:sm_90,cpu"
"""The accelerator, which runs nothing of the model, takes no symbols."""


@pytest.fixture(scope="module", params=["gpu:sm_90", ALONE])
def package(request: pytest.FixtureRequest) -> Package:
    return build(model(), target=request.param, exact=SETS)


@pytest.fixture
def session(package: Package, stand_in: StandIn) -> Iterator[Session]:
    for each in package.exact:
        opened(each, stand_in).close()
    with Session(package, device=stand_in.device()) as session:
        yield session


def test_exact_sizes_run(session: Session):
    for n, t in [(1, 16), (2, 5), (1, 16), (1, 16), (2, 5)]:
        assert_right(session.run(feeds(n, t)), feeds(n, t))
    assert session.device is not None
    assert session.inputs[0].shape == ("N", "T", 12)
    with session.clone() as twin:
        assert_right(twin.run(feeds(2, 5)), feeds(2, 5))


def test_arrays_on_the_gpu_choose_the_program(session: Session):
    given = feeds(2, 5)
    results = session.run_on_device(given)
    assert_right({name: each.numpy() for name, each in results.items()}, given)
    x = next(each for each in results.values() if each.shape == (2, 5))
    again = session.run_on_device({"x": given["x"], "bias": x})
    np.testing.assert_allclose(
        again["z"].numpy(), 2 * given["x"].sum(-1) + given["bias"], rtol=1e-4, atol=1e-5
    )


def test_a_replay_is_of_the_program_for_its_inputs(session: Session):
    first = session.run_on_device(feeds(2, 5))
    bias = first["z"]
    exact = session._exact.at(((2, 5, 12), (2, 5)))
    assert exact is not None
    assert exact._workspace is not None
    x = exact._workspace.ports.create(exact._ports.inputs[0])
    x.write(feeds(2, 5)["x"])
    replay = session.replay({"x": x, "bias": bias})
    replay.launch()
    replay.synchronize()
    np.testing.assert_allclose(
        replay.outputs["z"].numpy(), feeds(2, 5)["x"].sum(-1) + bias.numpy(), rtol=1e-4, atol=1e-5
    )
    with pytest.raises(RunError, match="input 'bias' is missing"):
        session.replay({"x": x})


def test_other_sizes_are_refused_with_those_that_there_are(session: Session):
    message = (
        r"the package has no program for N=3, T=5, it has: N=1, T=16; N=2, T=5: compile again with "
        r"exact=\[\.\.\., {'N': 3, 'T': 5}\]"
    )
    if not session.manifest.only_exact:
        pytest.skip("the package has a program for all sizes")
    for call in (session.run, session.run_on_device, session.replay):
        with pytest.raises(RunError, match=message):
            call(feeds(3, 5))
    with pytest.raises(RunError, match=message):
        session.shapes(N=3, T=5)
    with pytest.raises(RunError, match="input 'bias' has 4 for T"):
        session.run(feeds(1, 16) | {"bias": np.zeros((1, 4), np.float32)})
    assert session.shapes(N=2, T=5) == {"y": (2, 5, 20), "z": (2, 5)}
    assert_right(session.run(feeds(2, 5)), feeds(2, 5))


def test_each_program_has_the_kernels_of_the_model_at_these_sizes(package: Package):
    assert package.manifest.only_exact == (package.manifest.target == "vanilla")
    assert package.manifest.only_exact == (package.manifest.steps == ())
    names = [entry.name for entry in package.manifest.entries]
    assert names.count("gpu/weights.bin") + names.count("exact/0/gpu/weights.bin") == 1
    for sizes, program in zip(SETS, package.exact, strict=True):
        targets = ALONE if package.manifest.only_exact else "gpu:sm_90"
        alone = build(model(), target=targets, shapes=sizes)
        (code,) = program.manifest.part(GpuPart).codes
        assert (code,) == alone.manifest.part(GpuPart).codes
        for kernel in code.kernels:
            assert bytes(program.entries[kernel.entry]) == bytes(alone.entries[kernel.entry])
