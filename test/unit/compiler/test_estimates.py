"""Why a kernel is where it is: the estimates of all targets that take it, and who was preferred."""

import json
from pathlib import Path

import onnx
import onnx.parser
import pytest
from trivium.compiler.check import check
from trivium.targets.registry import find_target
from trivium.tools.main import main

NET = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N, 64] x, float[64, 32] w) => (float[N, 32] y) {
        [product] p = MatMul (x, w)
        [curve] y = Softmax (p)
    }
""")


def _product(name: str, rows: int) -> float:
    """Return the seconds of the product on a target, by the definition of a roofline."""
    peak = find_target(name).roofline
    moved = 4 * (rows * 64 + 64 * 32 + rows * 32)
    flops = 2 * rows * 64 * 32
    arithmetic, memory = flops / peak.flops_per_second, moved / peak.bytes_per_second
    return peak.start_seconds + max(arithmetic, memory)


@pytest.mark.parametrize("policy", ["engine-order", "cost"])
@pytest.mark.parametrize(("order", "expected"), [("cpu,host", "cpu"), ("host,cpu", "host")])
def test_estimates_are_those_of_each_target(policy: str, order: str, expected: str) -> None:
    kernels = check(NET, target=order, placement=policy, shapes={"N": 16})
    (kernel,) = [each for each in kernels if "product" in each.nodes]
    assert kernel.seconds == pytest.approx({name: _product(name, 16) for name in order.split(",")})
    assert kernel.target == (expected if policy == "engine-order" else "cpu")


def test_estimates_are_of_each_program() -> None:
    kernels = check(NET, target="cpu,host", exact=[{"N": 8}, {"N": 512}])
    found = {
        each.sizes["N"]: each.seconds["cpu"]
        for each in kernels
        if "product" in each.nodes and each.sizes
    }
    assert found == pytest.approx({8: _product("cpu", 8), 512: _product("cpu", 512)})


def test_command_says_who_was_preferred(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tmp_path / "net.onnx")
    onnx.save(NET, model)
    command = ["check", model, "--shape", "N=16", "--target", "host,cpu"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "placement by engine-order, of host, cpu" in out
    assert "estimates" not in out
    assert main([*command, "--placement", "cost"]) == 0
    out = capsys.readouterr().out
    assert "placement by cost, of host, cpu" in out
    (row,) = [line.split() for line in out.splitlines() if line.endswith(" product")]
    assert row[0] == f"{_product('host', 16) * 1e6:.2f}"
    assert row[1:] == [f"{_product('cpu', 16) * 1e6:.2f}", "cpu", "product"]
    assert main([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["placement"], report["order"]) == ("engine-order", ["host", "cpu"])
