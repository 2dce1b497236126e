"""The list of kernels: types and limits, from the registries that refusals read."""

import json

import pytest
from trivium.dialects.core.tensor import COMPUTED
from trivium.targets.registry import find_target
from trivium.tools.main import main
from trivium.tools.reports.kernel_table import lowerings_info


def test_every_lowering_is_listed_with_types_of_every_field() -> None:
    found = lowerings_info().kernels
    for name in ("cpu", "gpu"):
        lowerings = find_target(name).lowerings
        listed = {kernel.op: kernel for kernel in found if kernel.target == name}
        assert all(kernel.layouts.keys() == kernel.types.keys() for kernel in listed.values())
        assert set(listed) == {cls.op_name for cls in lowerings}
        for cls in lowerings:
            fields = [each.name for each in (*cls.fields.operands, *cls.fields.results)]
            types = listed[cls.op_name].types
            assert list(types) == fields
            assert all(types.values())


def test_what_a_kernel_takes() -> None:
    (conv,) = lowerings_info("cpu", op="tri.conv").kernels
    assert conv.kind == "template"
    assert {*conv.layouts.values()} == {"rows"}
    (on_gpu,) = lowerings_info("gpu", op="tri.conv").kernels
    assert {*on_gpu.layouts.values()} == {"ordered"}
    assert set(conv.types["x"]) == set(COMPUTED) - {"i1"}
    blocked, plain = lowerings_info("cpu", op="cpu.blocked_conv").kernels
    assert blocked.layouts == {"x": "blocked", "w": "packed", "b": "rows", "y": "blocked"}
    assert plain.layouts == {**blocked.layouts, "x": "rows"}
    integers, bf16 = lowerings_info("cpu", op="cpu.dot_mat_mul").kernels
    assert integers.types == {"a": ("ui8", "i8"), "w": ("i32",), "b": ("i32",), "y": ("i32",)}
    assert bf16.types == {"a": ("bf16",), "w": ("i32",), "b": ("f32",), "y": ("bf16",)}
    assert lowerings_info("cpu", "bf16", "cpu.dot_mat_mul").kernels == (bf16,)
    (pad,) = lowerings_info("cpu", op="tri.pad").kernels
    assert "repeats the input at most 1024 times" in pad.limits[0]


def test_types_and_names_choose(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", "--dtype", "f8E5M2", "--target", "gpu", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [kernel["op"] for kernel in report["kernels"]] == ["tri.cast"]
    assert main(["kernels", "--op", "conv"]) == 0
    out = capsys.readouterr().out
    assert "cpu     tri.conv " in out
    assert "numbers: f64, f32," in out
    assert main(["kernels", "--op", "tri.mod"]) == 0
    assert "tri.mod on gpu: elementwise\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--target", "tpu"], "no target is named 'tpu', there are cpu, gpu, host"),
        (["--dtype", "f33"], "no element type is named 'f33', there are f64,"),
        (["--target", "gpu", "--op", "winograd"], "no kernel is of --target gpu --op winograd"),
    ],
)
def test_refusals(arguments: list[str], fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", *arguments]) == 1
    assert fault in capsys.readouterr().err
