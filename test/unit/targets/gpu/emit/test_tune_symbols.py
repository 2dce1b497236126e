"""Tuning of packages whose sizes depend on symbols: kernels are measured at the likely sizes."""

from pathlib import Path

import onnx.parser
import trivium
from trivium.runtime.gpu.part import GpuPart
from trivium.runtime.gpu.tuning import Measured, measure_kernels
from trivium.targets.tuning_file import Entry, gpu_tuning_format
from trivium.test.unit.runtime.gpu.stand_in import Run, StandIn

MODEL = """
    <ir_version: 8, opset_import: ["" : 17]>
    net (float[N, T] x) => (float[N, T] y) { y = Exp (x) }
"""
SHAPES = {"N": trivium.Range(1, 8, likely=2), "T": trivium.Range(1, 4096, likely=600)}


def test_kernels_are_measured_at_the_likely_sizes(stand_in: StandIn, tmp_path: Path) -> None:
    model = onnx.parser.parse_model(MODEL)
    package = trivium.build(model, target="gpu:sm_90", shapes=SHAPES, candidates=True)
    (code,) = package.manifest.part(GpuPart).codes
    (kernel,) = code.kernels
    best = code.candidates[-1].setting
    assert best != kernel.setting
    sizes: set[int] = set()

    def execute(run: Run) -> None:
        sizes.update(array.size for array in run.arrays)
        stand_in.spend(900.0 if run.kernel.setting == best else 1000.0)

    stand_in.execute(package, execute)
    stand_in.sizes = {"N": 2, "T": 600}
    found: list[Measured] = []
    measure_kernels(package, stand_in.device(), lambda line: None, found.append)
    assert not stand_in.errors
    assert sizes == {1200}
    (measured,) = found
    assert not measured.refused
    file = tmp_path / "tuned.json"
    form = gpu_tuning_format(str, "sm_90", {})
    form.write(str(file), {measured.kernel: Entry[str].of(measured.times)})
    tuned = trivium.build(model, target="gpu:sm_90", shapes=SHAPES, tuning=file)
    (code,) = tuned.manifest.part(GpuPart).codes
    assert [each.setting for each in code.kernels] == [best]
