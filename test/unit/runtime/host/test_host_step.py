import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from trivium.runtime import dtypes
from trivium.runtime.contents import FIRST_PORT, Buffer, Memory, Port
from trivium.runtime.cpu.step import CpuStep
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.host.step import HostStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.runtime.step import Step


def ops(**references: Callable[..., Any]) -> dict[str, dict[str, Callable[..., Any]]]:
    return {"toy": {f"toy.{name}": _op(function) for name, function in references.items()}}


def _op(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **attributes: SimpleNamespace(reference=partial(function, **attributes))


def package(*steps: Step, dtype: str = "float32") -> Package:
    """Return a package with x -> y of 4 elements, a weight w and room for two tensors."""
    weights = np.arange(4).astype(dtypes.resolve(dtype)).tobytes()
    width = len(weights)
    manifest = Manifest(
        producer="test",
        source="",
        target="host",
        inputs=(Port("x", (4,), dtype, 0),),
        outputs=(Port("y", (4,), dtype, 1),),
        buffers=(
            Buffer("x", FIRST_PORT, 0, (4,), dtype),
            Buffer("y", FIRST_PORT + 1, 0, (4,), dtype),
            Buffer("w", 1, 0, (4,), dtype),
            Buffer("t", 0, 0, (4,), dtype),
            Buffer("empty", 0, 2 * width, (0, 3), dtype),
        ),
        steps=steps,
        memory=Memory(2 * width, 2 * width, width),
    )
    return Package.create(manifest, {"weights.bin": weights})


def step(op: str, operands: tuple[int, ...], results: tuple[int, ...], **attributes: Any) -> Step:
    return HostStep(
        op=op, attributes=attributes, operands=operands, results=results, nodes=("Node_7",)
    )


def test_steps_compute_by_way_of_the_arena():
    session = Session(
        package(step("toy.add", (0, 2), (3,)), step("toy.add", (3, 3), (1,))), ops(add=np.add)
    )
    np.testing.assert_array_equal(session(np.ones(4, np.float32)), [2, 4, 6, 8])


def test_absent_operands_are_none_and_lists_are_tuples():
    seen: list[Any] = []

    def look(x: Any, b: Any, *, pads: Any, mode: str) -> Any:
        seen.extend([b, pads, mode])
        return x

    Session(package(step("toy.look", (0, -1), (1,), pads=[1, [2]], mode="a")), ops(look=look))(
        np.ones(4, np.float32)
    )
    assert seen == [None, (1, (2,)), "a"]


def test_a_step_may_have_several_results():
    session = Session(package(step("toy.two", (0,), (3, 1))), ops(two=lambda x: (x, -x)))
    np.testing.assert_array_equal(session(np.ones(4, np.float32)), [-1, -1, -1, -1])


def test_empty_tensors_pass():
    session = Session(
        package(step("toy.none", (4,), (4,)), step("toy.same", (0,), (1,))),
        ops(none=lambda e: e, same=lambda x: x),
    )
    np.testing.assert_array_equal(session(np.ones(4, np.float32)), np.ones(4))


def test_types_that_numpy_lacks_pass():
    session = Session(package(step("toy.add", (0, 2), (1,)), dtype="bfloat16"), ops(add=np.add))
    result = session(np.ones(4, ml_dtypes.bfloat16))
    assert result.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(result.astype(np.float32), [1, 2, 3, 4])


def test_a_missing_ml_dtypes_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    dtypes.resolve.cache_clear()
    with pytest.raises(PackageError, match="'bfloat16' needs ml_dtypes, which is not installed"):
        dtypes.resolve("bfloat16")


def test_every_type_has_the_size_we_say():
    for name in dtypes._SIZES:
        assert dtypes.resolve(name).itemsize == dtypes.itemsize(name)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (lambda x: x[:3], r"'toy.f' of Node_7 gave float32\[3\], must give float32\[4\]"),
        (lambda x: x.astype(float), r"gave float64\[4\], must give float32\[4\]"),
        (lambda x: (x, x), "gave 2 results, must give 1"),
    ],
)
def test_a_wrong_result_is_refused(reference: Callable[..., Any], message: str):
    session = Session(package(step("toy.f", (0,), (1,))), ops(f=reference))
    with pytest.raises(RunError, match=message):
        session(np.ones(4, np.float32))


def test_an_error_in_a_kernel_says_where():
    session = Session(package(step("toy.f", (0,), (1,))), ops(f=lambda x: x[9]))
    with pytest.raises(IndexError) as caught:
        session(np.ones(4, np.float32))
    assert caught.value.__notes__ == ["in host step 'toy.f' of Node_7"]


@pytest.mark.parametrize("operand", [0, 2])
def test_a_kernel_cannot_write_its_operands(operand: int):
    def spoil(x: Any) -> Any:
        x[0] = 5
        return x

    session = Session(package(step("toy.f", (operand,), (1,))), ops(f=spoil))
    with pytest.raises(ValueError, match="read-only"):
        session(np.ones(4, np.float32))


def test_an_unknown_op_is_found_before_any_run():
    message = "nodes Node_7 need 'toy.g' on the host, but dialect 'toy' has no such op: install"
    with pytest.raises(RunError, match=message):
        Session(package(step("toy.g", (0,), (1,))), ops(f=np.negative))
    with pytest.raises(RunError, match=r"but module '[a-z.]+\.nonesuch' is not installed"):
        Session(package(step("nonesuch.g", (0,), (1,))))


def test_installed_dialects_are_found_by_name(monkeypatch: pytest.MonkeyPatch):
    root = dtypes.__name__.removesuffix(".runtime.dtypes")
    module = ModuleType(f"{root}.dialects.toy")
    vars(module)["OPS"] = ops(neg=np.negative)["toy"]
    monkeypatch.setitem(sys.modules, f"{root}.dialects", ModuleType(f"{root}.dialects"))
    monkeypatch.setitem(sys.modules, f"{root}.dialects.toy", module)
    session = Session(package(step("toy.neg", (0,), (1,))))
    np.testing.assert_array_equal(session(np.ones(4, np.float32)), [-1, -1, -1, -1])


def test_native_steps_need_native_code():
    with pytest.raises(PackageError, match="step 'segment_0' is native, but the package has no"):
        Session(package(CpuStep(symbol="segment_0")))


def test_outputs_that_live_elsewhere_are_copied():
    plain = package()
    for index, expected in ((0, [5, 5, 5, 5]), (2, [0, 1, 2, 3])):
        manifest = replace(
            plain.manifest, outputs=(replace(plain.manifest.outputs[0], buffer=index),)
        )
        x = np.full(4, 5, np.float32)
        y = Session(replace(plain, manifest=manifest))(x)
        np.testing.assert_array_equal(y, expected)
        assert not np.may_share_memory(x, y)


def test_groups_pass_neighbouring_operands_as_one_list():
    def weigh(xs: list[Any], factor: Any) -> Any:
        return sum(xs) * factor

    grouped = replace(step("toy.weigh", (0, 2, 0, 2), (1,)), groups=(3, -1))
    session = Session(package(grouped), ops(weigh=weigh))
    w = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(session(np.ones(4, np.float32)), (2 + w) * w)


@pytest.mark.parametrize("groups", [(2,), (4, -1), (-2, -1), (1, 1, 1, -1, -1)])
def test_groups_that_do_not_divide_the_operands_are_refused(groups: tuple[int, ...]):
    broken = replace(step("toy.weigh", (0, 2, 0, 2), (1,)), groups=groups)
    with pytest.raises(PackageError, match=r"'steps\[0\].groups' is .* must divide 4 operands"):
        package(broken)
