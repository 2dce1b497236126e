"""Programs that call kernels: which of them are worth several threads."""

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.targets.cpu.phases import Phase
from trivium.targets.cpu.segment import KernelCall, segment
from trivium.targets.cpu.threads import GRAIN

SMALL, ONE_ITERATION = Phase(1000, 2 * GRAIN - 1), Phase(1, 100 * GRAIN)
LARGE = Phase(2, 2 * GRAIN)


@pytest.mark.parametrize("phases", [(), (SMALL,), (ONE_ITERATION, SMALL)])
def test_a_program_without_work_for_two_threads_has_no_phases(phases: tuple[Phase, ...]) -> None:
    assert segment([KernelCall("k", (), phases)] * 3).phases == 0


def test_every_phase_counts_where_one_has_work_for_two_threads() -> None:
    calls = [KernelCall("k", (), (SMALL, ONE_ITERATION)), KernelCall("l", (), (LARGE,))]
    assert segment(calls).phases == 3


def test_a_small_model_runs_alone_and_a_large_one_does_not() -> None:
    for rows, alone in ((2, True), (4096, False)):
        model = onnx.parser.parse_model(
            f"""<ir_version: 10, opset_import: ["" : 21]>
            g (float[{rows}, 64] x) => (float[{rows}, 64] y) {{ y = Neg (x) }}"""
        )
        session = trivium.compile(model, threads=2)
        (step,) = session.manifest.steps
        assert (step.phases == 0) == alone
        x = np.random.default_rng(0).normal(size=(rows, 64)).astype(np.float32)
        np.testing.assert_array_equal(session.run({"x": x})["y"], -x)
