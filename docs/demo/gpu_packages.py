"""Make the packages that `python -m trivium.tools.bench.gpu` measures; no GPU is needed.

python docs/demo/gpu_packages.py FOLDER [--target gpu:sm_90] [--only WORD] [--packed]
    [--candidates] [--tuning FILE.json]

A package that is there is kept. With --packed they are compressed, which takes weights that repeat
to a hundredth. With --candidates they hold what `trivium tune` measures. What cannot be compiled is
reported, and the others are made all the same; the exit code is 1 then.
"""

import argparse
import sys
from pathlib import Path

import onnx
import torch
from onnx import TensorProto, helper
from trivium.compiler.driver import build
from trivium.dialects.core.errors import CompileError
from trivium.runtime.errors import Fault
from trivium.runtime.package import Package
from trivium.tools.bench.gpu.networks import inputs, network
from trivium.tools.bench.gpu.packages import find, pack
from trivium.tools.bench.gpu.plan import MATMUL, Case, cases


def product(size: int) -> onnx.ModelProto:
    """Make a model that multiplies two square matrices of f16."""
    shape = (size, size)
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT16, shape) for n in "aby"]
    node = helper.make_node("MatMul", ["a", "b"], ["y"], name="product")
    graph = helper.make_graph([node], "product", ports[:2], ports[2:])
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def make(case: Case, target: str, candidates: bool, tuning: str) -> Package:
    """Compile what a case measures."""
    if case.kind == MATMUL:
        return build(product(case.size), target=target, tuning=tuning, candidates=candidates)
    return build(
        network(case.name),
        target=target,
        tuning=tuning,
        precision=case.precision,
        candidates=candidates,
        example_inputs=tuple(map(torch.as_tensor, inputs(case.name))),
    )


def main() -> int:
    """Make package after package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="gpu:sm_90")
    parser.add_argument("--only", default="")
    parser.add_argument("--packed", action="store_true")
    parser.add_argument("--candidates", action="store_true")
    parser.add_argument("--tuning", default="")
    flags = parser.parse_args()
    flags.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for case in cases(flags.only):
        if find(case, flags.folder):
            continue
        path = flags.folder / case.file
        try:
            package = make(case, flags.target, flags.candidates, flags.tuning)
        except (CompileError, Fault) as error:
            failed += 1
            print(f"{case.title}: {error}", file=sys.stderr)
            continue
        package.save(path)
        made = pack(path) if flags.packed else path
        on_host = sum(step.kind == "host" for step in package.manifest.steps)
        print(f"{made}: {made.stat().st_size} bytes, {on_host} steps on the host", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
