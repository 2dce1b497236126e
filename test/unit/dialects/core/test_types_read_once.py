"""Reading types once: what is remembered, until when, and that faults are not."""

import pytest
from trivium.dialects import tri
from trivium.dialects.core import attributes
from trivium.dialects.core.attributes import tensor_of, types_read_once
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Tensor
from trivium.passes.pipeline import Pipeline


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts of the types that were read, one for each time."""
    found: list[str] = []
    original = attributes._read

    def spy(type_: ir.Type) -> Tensor:
        found.append(str(type_))
        return original(type_)

    monkeypatch.setattr(attributes, "_read", spy)
    return found


def test_a_type_is_read_once_inside_and_each_time_outside(read: list[str]) -> None:
    with new_context():
        for _ in range(2):
            with types_read_once(), types_read_once():
                for text in ("tensor<2xf32>", "tensor<2xf64>", "tensor<2xf32>"):
                    tensor = tensor_of(ir.Type.parse(text))
                    assert str(tensor) == text
        assert read == ["tensor<2xf32>", "tensor<2xf64>"] * 2
        for _ in range(2):
            tensor_of(ir.Type.parse("tensor<3xi8>"))
        assert read[4:] == ["tensor<3xi8>"] * 2


def test_orders_of_axes_are_types_of_their_own() -> None:
    with new_context(), types_read_once():
        plain, turned = (
            ir.Type.parse(f"tensor<2x3xf32{order}>") for order in ("", ", [1 : i64, 0 : i64]")
        )
        assert tensor_of(plain) == tensor_of(turned) == Tensor((2, 3), "f32")
        with pytest.raises(Invalid, match="is in no order"):
            tensor_of(ir.Type.parse("tensor<2x3xf32, [1 : i64, 1 : i64]>"))


def test_faults_are_found_each_time(read: list[str]) -> None:
    with new_context(), types_read_once():
        for _ in range(2):
            with pytest.raises(Invalid, match="has dynamic sizes"):
                tensor_of(ir.Type.parse("tensor<?xf32>"))
    assert len(read) == 2


def test_two_contexts_do_not_share_types(read: list[str]) -> None:
    with types_read_once():
        for _ in range(2):
            with new_context():
                assert tensor_of(ir.Type.parse("tensor<2xf32>")) == Tensor((2,), "f32")
    assert len(read) == 2


def test_nothing_is_kept_after_an_error() -> None:
    def fail() -> None:
        with new_context(), types_read_once():
            tensor_of(ir.Type.parse("tensor<2xf32>"))
            raise Invalid("stop")

    with pytest.raises(Invalid, match="stop"):
        fail()
    assert attributes._READ.get() is None


def test_a_pipeline_reads_each_type_once(read: list[str]) -> None:
    with new_context():
        module = Module.parse(
            f"""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
              %0 = "{tri.Exp.op_name}"(%x) : (tensor<2xf32>) -> tensor<2xf32>
              return %0 : tensor<2xf32>
            }}"""
        )
        read.clear()
        Pipeline.parse("canonicalize,fold-constants,eliminate").run(module)
        assert read == ["tensor<2xf32>"]


@pytest.mark.parametrize("shape", ["70368744177664x2x2x", "0x140737488355328x", "1x" * 65])
def test_types_that_no_memory_holds_are_refused(shape: str) -> None:
    with new_context(), pytest.raises(Invalid, match="at most"):
        tensor_of(ir.Type.parse(f"tensor<{shape}f32>"))
