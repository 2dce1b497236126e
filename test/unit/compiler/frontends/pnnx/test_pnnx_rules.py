"""Rules for operators that the suite does not have, or not in all their forms, beside torch."""

from collections.abc import Callable
from typing import Any

import pytest
from trivium.dialects.core.errors import CompileError

torch: Any = pytest.importorskip("torch")
F = torch.nn.functional

from one_operator import X1, X2, X3, call, close, normal  # noqa: E402

Case = tuple[str, tuple[Any, ...], dict[str, Any], Callable[..., Any]]

CASES: list[Case] = [
    ("nn.AvgPool3d", (X3,), {"kernel_size": (3, 2, 2)}, lambda x: F.avg_pool3d(x, (3, 2, 2))),
    (
        "F.avg_pool2d",
        (X2,),
        {"kernel_size": (3, 3), "stride": (2, 2), "padding": (1, 1), "ceil_mode": True}
        | {"count_include_pad": False, "divisor_override": None},
        lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
    ),
    (
        "nn.AvgPool2d",
        (X2,),
        {"kernel_size": (3, 3), "stride": (2, 3), "padding": (1, 0), "divisor_override": 5},
        lambda x: F.avg_pool2d(x, 3, (2, 3), (1, 0), divisor_override=5),
    ),
    (
        "F.avg_pool1d",
        (X1[0],),
        {"kernel_size": (4,), "stride": (3,), "ceil_mode": True, "padding": (2,)},
        lambda x: F.avg_pool1d(x, 4, 3, 2, ceil_mode=True),
    ),
    ("F.max_pool3d", (X3,), {"kernel_size": 2}, lambda x: F.max_pool3d(x, 2)),
    (
        "F.adaptive_avg_pool3d",
        (X3,),
        {"output_size": (2, 0, 3)},
        lambda x: F.adaptive_avg_pool3d(x, (2, None, 3)),
    ),
    ("nn.AdaptiveMaxPool3d", (X3,), {"output_size": 4}, lambda x: F.adaptive_max_pool3d(x, 4)),
    (
        "F.lp_pool2d",
        (X2.abs(),),
        {"norm_type": 3, "kernel_size": (2, 3), "ceil_mode": True},
        lambda x: F.lp_pool2d(x, 3, (2, 3), ceil_mode=True),
    ),
    (
        "F.interpolate",
        (X3,),
        {"scale_factor": (2.0, 1.5, 1.0), "mode": "trilinear", "align_corners": False},
        lambda x: F.interpolate(x, scale_factor=(2.0, 1.5, 1.0), mode="trilinear"),
    ),
    (
        "F.interpolate",
        (X2,),
        {"scale_factor": 1.7, "mode": "bilinear", "recompute_scale_factor": True},
        lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True),
    ),
    (
        "nn.Upsample",
        (X2,),
        {"size": (5, 11), "mode": "bicubic", "align_corners": True},
        lambda x: F.interpolate(x, (5, 11), mode="bicubic", align_corners=True),
    ),
    (
        "F.interpolate",
        (X2,),
        {"size": (4, 5), "mode": "bicubic", "antialias": True},
        lambda x: F.interpolate(x, (4, 5), mode="bicubic", antialias=True),
    ),
    (
        "F.interpolate",
        (X1,),
        {"size": 5, "mode": "nearest-exact"},
        lambda x: F.interpolate(x, 5, mode="nearest-exact"),
    ),
    (
        "F.interpolate",
        (X2,),
        {"size": 4, "mode": "area"},
        lambda x: F.interpolate(x, 4, mode="area"),
    ),
    ("nn.UpsamplingNearest2d", (X2,), {"size": (5, 3)}, lambda x: F.interpolate(x, (5, 3))),
    (
        "nn.Unfold",
        (X2,),
        {"kernel_size": (2, 3), "dilation": (2, 1), "padding": (1, 0), "stride": (2, 2)},
        lambda x: F.unfold(x, (2, 3), (2, 1), (1, 0), (2, 2)),
    ),
    (
        "F.affine_grid",
        (normal(2, 3, 4),),
        {"size": (2, 1, 3, 4, 5), "align_corners": False},
        lambda x: F.affine_grid(x, [2, 1, 3, 4, 5], align_corners=False),
    ),
    ("F.normalize", (X2,), {"p": 2.0, "dim": (1, 2)}, lambda x: F.normalize(x, dim=(1, 2))),
    ("F.normalize", (X1,), {"p": 3.0, "dim": -1}, lambda x: F.normalize(x, 3.0, -1)),
    (
        "F.local_response_norm",
        (X2,),
        {"size": 4, "alpha": 0.5, "beta": 0.6, "k": 1.5},
        lambda x: F.local_response_norm(x, 4, 0.5, 0.6, 1.5),
    ),
    ("nn.GroupNorm", (normal(3, 6),), {"num_groups": 2}, lambda x: F.group_norm(x, 2)),
    ("nn.RMSNorm", (X1,), {"normalized_shape": (9,), "eps": None}, lambda x: F.rms_norm(x, (9,))),
    (
        "nn.Softplus",
        (X1,),
        {"beta": 2.0, "threshold": 1.0},
        lambda x: F.softplus(x, 2.0, 1.0),
    ),
    ("nn.Threshold", (X1,), {"threshold": 0.2, "value": 7.0}, lambda x: F.threshold(x, 0.2, 7.0)),
    ("nn.Softmin", (X1,), {"dim": 1}, lambda x: F.softmin(x, 1)),
    ("F.softmax", (X1,), {"dim": None}, lambda x: F.softmax(x, 0)),
    ("nn.GELU", (X1,), {"approximate": "tanh"}, lambda x: F.gelu(x, approximate="tanh")),
    ("torch.var", (X1,), {"dim": (0, 2), "unbiased": False}, lambda x: x.var((0, 2), False)),
    (
        "torch.std",
        (X1,),
        {"dim": 1, "correction": 2, "keepdim": True},
        lambda x: x.std(1, correction=2, keepdim=True),
    ),
    ("torch.norm", (X1,), {"p": 0, "dim": 1}, lambda x: x.norm(0, 1)),
    ("torch.norm", (X1,), {"p": float("-inf"), "dim": None}, lambda x: x.norm(float("-inf"))),
    ("torch.sum", ((X1 > 0),), {"dim": 1}, lambda x: x.sum(1)),
    ("torch.prod", (torch.arange(6, dtype=torch.int32),), {}, lambda x: x.prod()),
    ("torch.argmax", (X1,), {"dim": None, "keepdim": True}, lambda x: x.argmax(keepdim=True)),
    ("torch.cumsum", ((X1 > 0),), {"dim": -1}, lambda x: x.cumsum(-1)),
    ("torch.roll", (X1,), {"shifts": 5, "dims": None}, lambda x: x.roll(5)),
    ("torch.flip", (X1,), {"dims": (0, -1)}, lambda x: x.flip(0, -1)),
    ("torch.tile", (X1,), {"dims": (2, 1, 1, 2)}, lambda x: x.tile(2, 1, 1, 2)),
    ("Tensor.repeat", (X1[:, :1],), {"sizes": (3, 1, 4, 1)}, lambda x: x.repeat(3, 1, 4, 1)),
    ("torch.squeeze", (X1[:1, :, :1],), {"dim": (0, 1)}, lambda x: x.squeeze((0, 1))),
    ("torch.diag", (normal(3),), {"diagonal": -2}, lambda x: x.diag(-2)),
    (
        "torch.as_strided",
        (X1,),
        {"size": (3, 2), "stride": (4, 9), "storage_offset": 5},
        lambda x: x.as_strided((3, 2), (4, 9), 5),
    ),
    (
        "F.pad",
        (X2,),
        {"pad": (1, -2, -1, 3), "mode": "constant", "value": 2.5},
        lambda x: F.pad(x, (1, -2, -1, 3), value=2.5),
    ),
    (
        "nn.ReplicationPad3d",
        (X3,),
        {"padding": (1, 2, 0, 1, 2, 0)},
        lambda x: F.pad(x, (1, 2, 0, 1, 2, 0), "replicate"),
    ),
    (
        "F.pad",
        (X1,),
        {"pad": (2, 1), "mode": "circular", "value": None},
        lambda x: F.pad(x, (2, 1), "circular"),
    ),
    ("aten::clamp_min", (X2, torch.tensor(0.25)), {}, lambda x, low: x.clamp(low)),
    ("aten::clamp_max", (X2, torch.tensor(0.25)), {}, lambda x, high: x.clamp(max=high)),
    ("torch.clamp", (torch.arange(9),), {"min": 2, "max": 5}, lambda x: x.clamp(2, 5)),
    ("torch.clamp", (torch.arange(9),), {"min": 1.5, "max": None}, lambda x: x.clamp(1.5)),
    ("torch.gt", (torch.arange(5, dtype=torch.uint8),), {"other": 2.5}, lambda x: x > 2.5),
    ("torch.ne", ((X1 > 0),), {"other": True}, lambda x: x.ne(True)),
    ("torch.logical_not", (torch.arange(3),), {}, torch.logical_not),
    ("torch.bitwise_not", (torch.arange(3),), {}, torch.bitwise_not),
    (
        "torch.full_like",
        (torch.arange(3),),
        {"fill_value": 2.5, "dtype": "torch.float"},
        lambda x: torch.full_like(x, 2.5, dtype=torch.float),
    ),
    (
        "torch.ones",
        (),
        {"size": (2, 3), "dtype": "torch.long"},
        lambda: torch.ones(2, 3, dtype=torch.long),
    ),
    ("torch.full", (), {"size": (2,), "fill_value": 7}, lambda: torch.full((2,), 7)),
    (
        "torch.arange",
        (),
        {"start": 1, "end": 2.5, "step": 0.25},
        lambda: torch.arange(1, 2.5, 0.25),
    ),
    (
        "torch.arange",
        (),
        {"end": 4, "dtype": "torch.float"},
        lambda: torch.arange(4, dtype=torch.float),
    ),
    ("Tensor.new_full", (X1,), {"size": (2,), "fill_value": 1.5}, lambda x: x.new_full((2,), 1.5)),
    (
        "nn.PixelUnshuffle",
        (normal(3, 2, 4, 4, 6),),
        {"downscale_factor": 2},
        lambda x: F.pixel_unshuffle(x, 2),
    ),
    ("nn.ChannelShuffle", (X2,), {"groups": 2}, lambda x: F.channel_shuffle(x, 2)),
    (
        "torch.repeat_interleave",
        (X1,),
        {"repeats": 2, "dim": None},
        lambda x: x.repeat_interleave(2),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_operators_are_what_torch_computes(case: Case) -> None:
    type_, inputs, parameters, want = case
    close(call(type_, inputs, **parameters), want(*inputs))


TWO: list[Case] = [
    (
        "torch.baddbmm",
        (normal(2, 3, 5), normal(2, 3, 4), normal(2, 4, 5)),
        {"alpha": 0.5, "beta": 2.0},
        lambda a, b, c: torch.baddbmm(a, b, c, alpha=0.5, beta=2.0),
    ),
    ("torch.mv", (normal(3, 4), normal(4)), {}, torch.mv),
    ("F.linear", (normal(2, 3, 4), normal(4)), {}, F.linear),
    (
        "F.pairwise_distance",
        (normal(3, 4), normal(3, 4, seed=1)),
        {"p": 1.0, "keepdim": True},
        lambda a, b: F.pairwise_distance(a, b, 1.0, keepdim=True),
    ),
    (
        "F.scaled_dot_product_attention",
        (normal(2, 3, 5), normal(2, 4, 5), normal(2, 4, 6)),
        {"is_causal": True},
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    ),
    (
        "F.scaled_dot_product_attention",
        (normal(3, 5), normal(4, 5), normal(4, 6)),
        {"scale": 0.3},
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3),
    ),
    (
        "F.scaled_dot_product_attention",
        (normal(1, 4, 3, 5), normal(2, 2, 4, 5), normal(2, 2, 4, 5)),
        {"enable_gqa": True},
        lambda q, k, v: F.scaled_dot_product_attention(q.expand(2, 4, 3, 5), k, v, enable_gqa=True),
    ),
    (
        "torch.scatter_add",
        (X1[0], torch.tensor([[0, 2, 0]]), X1[1]),
        {"dim": 0},
        lambda x, i, s: x.scatter_add(0, i, s),
    ),
    ("torch.gather", (X1[0], torch.tensor([[0, 2, 0]])), {"dim": 0}, lambda x, i: x.gather(0, i)),
    (
        "torch.cross",
        (normal(3, 4), normal(3, 1, seed=1)),
        {"dim": 0},
        lambda a, b: torch.linalg.cross(a, b, dim=0),
    ),
    ("torch.where", (X1[0] > 0, X1[0], torch.tensor(2)), {}, torch.where),
    ("torch.lt", (torch.arange(4), torch.tensor(1.5)), {}, torch.lt),
    ("Tensor.type_as", (X1, torch.arange(2)), {}, lambda x, y: x.type_as(y)),
    ("torch.complex", (X1, X1), {}, lambda a, b: torch.view_as_real(torch.complex(a, b))),
    ("torch.bitwise_left_shift", (torch.arange(4), torch.arange(4)), {}, torch.bitwise_left_shift),
    ("aten::addcmul", (X1, X1, X1), {}, lambda a, b, c: torch.addcmul(a, b, c)),
    (
        "torch.slice_scatter",
        (X1, X1[:, 1:3]),
        {"dim": 1, "start": 0, "end": 4, "step": 2},
        lambda x, s: x.slice_scatter(s, 1, 0, 4, 2),
    ),
    ("torch.max", (X1,), {"dim": 1, "keepdim": True}, lambda x: tuple(x.max(1, True))),
    (
        "torch.topk",
        (X1,),
        {"k": 3, "dim": -1, "largest": False},
        lambda x: tuple(x.topk(3, -1, False)),
    ),
    ("torch.unbind", (X1,), {"dim": 0}, lambda x: x.unbind(0)),
    (
        "torch.tensor_split",
        (X1,),
        {"indices": (2, 5), "dim": 2},
        lambda x: x.tensor_split((2, 5), 2),
    ),
    (
        "torch.tensor_split",
        (X1,),
        {"indices": (5, 2), "dim": 2},
        lambda x: x.tensor_split((5, 2), 2),
    ),
    ("torch.chunk", (X1,), {"chunks": 4, "dim": 2}, lambda x: x.chunk(4, 2)),
    (
        "F.max_pool2d",
        (X2,),
        {"kernel_size": (3, 3), "padding": (1, 1), "return_indices": True},
        lambda x: F.max_pool2d(x, 3, None, 1, return_indices=True),
    ),
    (
        "F.adaptive_max_pool2d",
        (X2,),
        {"output_size": (4, 3), "return_indices": True},
        lambda x: F.adaptive_max_pool2d(x, (4, 3), return_indices=True),
    ),
]


@pytest.mark.parametrize("case", TWO, ids=lambda case: case[0])
def test_operators_of_several_tensors_are_what_torch_computes(case: Case) -> None:
    type_, inputs, parameters, want = case
    wanted = want(*inputs)
    outputs = len(wanted) if isinstance(wanted, (tuple, list)) else 1
    close(call(type_, inputs, outputs=outputs, **parameters), wanted)


@pytest.mark.parametrize(
    ("type_", "inputs", "parameters", "fault"),
    [
        ("F.pad", (X1,), {"pad": (1, 2, 3)}, "has 3 numbers in pad, must have 2 for each of up to"),
        ("F.interpolate", (X1,), {"mode": "cubic"}, "has neither size nor scale_factor"),
        ("F.interpolate", (X1,), {"size": 3, "mode": "blurry"}, "has mode 'blurry', must be area"),
        ("nn.Conv2d", (X2,), {"kernel_size": (3, 3)}, "has no weight"),
        ("F.max_pool2d", (X2,), {"kernel_size": (2, 2, 2)}, "has (2, 2, 2) for 2 spatial axes"),
        ("nn.LayerNorm", (X1,), {"normalized_shape": (8,)}, "has normalized_shape (8,), which"),
        ("F.batch_norm", (X1, X1, X1), {"training": True}, "normalises by the batch itself"),
        (
            "nn.Embedding",
            (torch.arange(2), X1[0]),
            {"max_norm": 1.0},
            "has max_norm, which changes",
        ),
        ("torch.split", (X1,), {"split_size_or_sections": 0}, "splits into pieces of 0"),
        ("torch.narrow", (X1,), {"dim": 2, "start": 7, "length": 3}, "takes 3 elements from 7 on"),
        (
            "Tensor.select",
            (X1,),
            {"dim": 1, "index": 4},
            "has index 4 for an axis of size 4, must be in",
        ),
        ("Tensor.slice", (X1,), {"step": 0}, "has step 0, must be at least 1"),
        ("torch.arange", (), {"start": 0}, "has no end"),
        ("torch.arange", (), {"end": 1, "step": 0}, "counts from 0.0 to 1.0 in steps of 0.0"),
        ("torch.norm", (X1,), {"p": "nuc"}, "has p 'nuc', must be fro or a number"),
        ("Tensor.to", (X1,), {"dtype": "torch.quint8"}, "asks for element type torch.quint8"),
        ("nn.LSTM", (X1,), {"hidden_size": 3}, "has no weight_ih_l0"),
        ("torch.fft.rfft", (X1,), {"norm": "loud"}, "has norm 'loud', must be backward, ortho or"),
        ("F.scaled_dot_product_attention", (X1, X1, X1), {"dropout_p": 0.5}, "drops elements at"),
        ("torch.stft", (X1[0],), {"n_fft": 16, "center": False}, "has a signal of 9, must have at"),
        ("nn.GLU", (X1,), {"dim": 2}, "halves axis 2, which has size 9, must be even"),
    ],
)
def test_what_rules_refuse(
    type_: str, inputs: tuple[Any, ...], parameters: dict[str, Any], fault: str
) -> None:
    with pytest.raises(CompileError) as caught:
        call(type_, inputs, **parameters)
    assert f"'{type_}' operator 'op' {fault}" in str(caught.value)
