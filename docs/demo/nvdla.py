"""Compile networks for NVDLA, and compare what the simulated loadables give with references.

python docs/demo/nvdla.py CONFIGURATION… [--network NAME…] [--thin N] [--samples N]
    [--precision fp16 [--winograd-error ERROR]]

Networks are those of their papers with random weights, quantised by ranges of drawn images. For
each network and configuration a line has: the cosine to floats of the same weights, the lower one
of two images, and the cosine of what changes from one image to the other; whether all bytes of the
loadables are those of the dialect's references, executed after selection and after each later
phase; the operations of the loadables and their cycles for an image; and the nodes that run on the
CPU, with reasons. In fp16 networks are not quantised; those with Winograd convolutions differ from
references after selection, where all convolutions are direct.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from trivium.compiler.check import can_run
from trivium.runtime.dla.part import DESCRIPTION, DlaPart
from trivium.targets.choices import F32
from trivium.targets.dla.nvdla.device import open_device
from trivium.test.unit.targets.dla.image_networks import CLASSIC, PictureNet
from trivium.test.unit.targets.dla.nvdla.compared import (
    Simulated,
    cosine,
    interpreted,
    simulated,
    unequal,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("configurations", nargs="+", metavar="CONFIGURATION")
    parser.add_argument("--network", nargs="*", default=list(CLASSIC), choices=list(CLASSIC))
    parser.add_argument("--thin", type=int, default=1, help="divide channels by this")
    parser.add_argument("--samples", type=int, default=8, help="images that give ranges")
    parser.add_argument("--precision", default=F32, choices=[F32, "fp16"], help="in floats")
    parser.add_argument("--winograd-error", type=float, metavar="ERROR")
    args = parser.parse_args()
    options = {"precision": args.precision, "winograd_error": args.winograd_error}
    for name in args.network:
        build, shape = CLASSIC[name]
        net = PictureNet(shape, thin=args.thin)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"{name}.onnx"
            is_quantized = args.precision == F32
            floats = (
                net.quantized(build(net), file, args.samples)
                if is_quantized
                else net.model(build(net))
            )
            model = onnx.load(file) if is_quantized else floats
            images = [net.inputs(), net.inputs()]
            session = onnxruntime.InferenceSession(floats.SerializeToString())
            expected = [np.asarray(session.run(None, {"x": image})[0]) for image in images]
            for configuration in args.configurations:
                _compare(name, model, f"nvdla:{configuration}", images, expected, options)


def _compare(
    name: str,
    model: onnx.ModelProto,
    target: str,
    images: list[np.ndarray],
    expected: list[np.ndarray],
    options: dict[str, Any],
) -> None:
    made = simulated(model, target, images[:1], **options)
    wrong = unequal(interpreted(model, target, images[:1], **options), made.found)
    results = [made.outputs[0], Simulated(made.package).run(images[1:]).outputs[0]]
    lower = min(map(cosine, results, expected))
    change = cosine(results[0] - results[1], expected[0] - expected[1])
    part = made.package.manifest.part(DlaPart)
    programs = part.loadables if part else ()
    description = bytes(made.package.entries[DESCRIPTION])
    cycles = 0
    for each in programs:
        device = open_device(description, bytes(made.package.entries[each.entry]), each.entry)
        cycles += device.report().cycles
    operations = " + ".join(str(each.operations) for each in programs)
    print(
        f"{name:13} {target:15} cosine {lower:.4f}, of changes {change:.4f}  "
        f"{'differs after ' + ', '.join(wrong) if wrong else 'equal'}  "
        f"{operations} operations  {cycles} cycles",
        flush=True,
    )
    for node in can_run(model, target=target, **options):
        if not node.runs:
            print(f"    {node.node}: {'; '.join(node.refusals)}", flush=True)


if __name__ == "__main__":
    main()
