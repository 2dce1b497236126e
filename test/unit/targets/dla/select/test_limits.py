"""Limits of packets, as far as they bound ops on tensors."""

from dataclasses import replace
from typing import Any

import pytest
from trivium.dialects import dla
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.dla.dialect import TensorOp
from trivium.targets.dla.registry import find_instructions
from trivium.targets.dla.select.limits import tensor_refusal

VANILLA = find_instructions("vanilla").description

X, W, B = "tensor<1x99x99x4xi8>", "tensor<{0}x1x4x2xi8>", "tensor<2xi32>"
CONV = "multiplier = array<i64: {m}, 1>, shift = array<i64: 0, 0>, strides = array<i64: 1, {s}>"


def refusal(text: str, description: Any = VANILLA) -> str | None:
    """Return what is said of the one op of a function."""
    with new_context(), ir.Location.unknown():
        module = Module(ir.Module.parse(text))
        (op,) = [op for op in ops(module.operation) if isinstance(op, TensorOp)]
        return tensor_refusal(op, description)


def conv(kernel: int = 1, stride: int = 1, multiplier: int = 1, dilation: int = 1) -> str:
    fields = CONV.format(m=multiplier, s=stride) + f", dilations = array<i64: {dilation}, 1>"
    w, rows = W.format(kernel), 99 - (kernel - 1) * dilation
    y = f"tensor<1x{rows}x{(98 // stride) + 1}x2xi8>"
    return f"""func.func @f(%x: {X}, %w: {w}, %b: {B}) -> {y} {{
      %0 = "dla.conv"(%x, %w, %b) {{{fields}}} : ({X}, {w}, {B}) -> {y}
      return %0 : {y}
    }}"""


def pool(fields: str) -> str:
    return f"""func.func @f(%x: {X}) -> {X} {{
      %0 = "dla.pool"(%x) {{mode = "max", kernel = array<i64: 1, 1>, {fields}}} : ({X}) -> {X}
      return %0 : {X}
    }}"""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (conv(kernel=15, stride=8, multiplier=(1 << 31) - 1, dilation=4), None),
        (conv(kernel=17), "field 'kernel_rows' is 17: conv takes kernels of 1 to 16 rows"),
        (conv(stride=9), "field 'stride_columns' is 9: conv moves by 1 to 8 columns"),
        (conv(dilation=33), "field 'dilation_rows' is 33: conv spreads kernels by 1 to 32 rows"),
        (pool("shift = 40, multiplier = 7"), None),
        (
            pool("dilations = array<i64: 33, 1>"),
            "field 'dilation_rows' is 33: pool spreads windows by 1 to 32 rows",
        ),
    ],
)
def test_ops_are_taken_as_far_as_fields_reach(text: str, sentence: str | None) -> None:
    assert refusal(text) == (sentence and f"vanilla: {sentence}")


def dense(rows: int, channels: int) -> str:
    x, w, y = f"tensor<1x{rows}x{rows}x{channels}xi8>", f"{rows}x{rows}", "tensor<1x1x1x2xi8>"
    w = f"tensor<{w}x{channels}x2xi8>"
    return f"""func.func @f(%x: {x}, %w: {w}, %b: {B}) -> {y} {{
      %0 = "dla.conv"(%x, %w, %b) {{{CONV.format(m=1, s=1)}}} : ({x}, {w}, {B}) -> {y}
      return %0 : {y}
    }}"""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (dense(1, 65520), None),
        (dense(1, 65536), "vanilla: field 'source_pixel' is 65536, must be from 0 to 65535"),
    ],
)
def test_strides_of_images_fit_their_fields(text: str, sentence: str | None) -> None:
    assert refusal(text) == sentence


def join(channels: int) -> str:
    x, y = f"tensor<1x1x1x{channels}xi8>", f"tensor<1x1x1x{2 * channels}xi8>"
    return f"""func.func @f(%x: {x}) -> {y} {{
      %0 = "dla.concat"(%x, %x) {{axis = 3}} : ({x}, {x}) -> {y}
      return %0 : {y}
    }}"""


def test_joined_images_are_no_wider_than_packets_can_say() -> None:
    assert refusal(join(32752)) is None
    found = refusal(join(32768))
    assert found == "vanilla: field 'source_pixel' is 65536, must be from 0 to 65535"


@pytest.mark.parametrize(
    ("packet", "field"),
    [("load", "destination_pixel"), ("store", "source_pixel"), ("pool", "destination_pixel")],
)
def test_images_in_sram_are_no_wider_than_packets_can_say(packet: str, field: str) -> None:
    form = VANILLA.packets[packet]
    fields = tuple(replace(f, bits=4) if f.name == field else f for f in form.fields)
    packets = {**VANILLA.packets, packet: replace(form, fields=fields)}
    found = refusal(pool("shift = 1"), replace(VANILLA, packets=packets))
    assert found == f"vanilla: field '{field}' is 16, must be from 0 to 15"


def test_multipliers_have_as_many_bits_as_the_description_says() -> None:
    few = replace(VANILLA, multiplier_bits=16)
    assert refusal(conv(multiplier=(1 << 16) - 1), few) is None
    found = refusal(conv(multiplier=1 << 16), few)
    assert found == "vanilla: multiplier is 65536, must have at most 16 bits"


def test_what_rounds_otherwise_is_refused() -> None:
    text = pool('rounding = "half_up", shift = 1')
    assert refusal(text) == f"vanilla rounds {VANILLA.rounding}, not half_up"


def test_a_description_without_a_packet_refuses_what_needs_it() -> None:
    packets = {name: form for name, form in VANILLA.packets.items() if name != "pool"}
    assert (
        refusal(pool("shift = 1"), replace(VANILLA, packets=packets))
        == "vanilla has no packet 'pool'"
    )


def test_ops_without_a_packet_of_their_own_are_taken() -> None:
    assert not dla.Concat.packet
    text = f"""func.func @f(%x: {X}) -> tensor<1x99x198x4xi8> {{
      %0 = "dla.concat"(%x, %x) {{axis = 2}} : ({X}, {X}) -> tensor<1x99x198x4xi8>
      return %0 : tensor<1x99x198x4xi8>
    }}"""
    assert refusal(text) is None
