"""Rules for modules with weights, beside torch."""

from typing import Any

import pytest
import trivium

torch: Any = pytest.importorskip("torch")
F = torch.nn.functional

from one_operator import X2, call, close, graph_of, normal  # noqa: E402


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
def test_convolutions(axes: int, mode: str) -> None:
    if (axes, mode) == (3, "reflect"):
        pytest.skip("torch pads three axes by reflection no more than the others, but slowly")
    make = getattr(torch.nn, f"Conv{axes}d")
    module = make(4, 6, 3, stride=2, padding=1, dilation=2, groups=2, padding_mode=mode)
    x = normal(4, *(9, 8, 7)[:axes])
    weights = {"weight": module.weight.detach(), "bias": module.bias.detach()}
    parameters = {
        "stride": (2,) * axes,
        "padding": (1,) * axes,
        "dilation": (2,) * axes,
        "groups": 2,
        "padding_mode": mode,
        "in_channels": 4,
        "bias": True,
    }
    close(call(f"nn.Conv{axes}d", [x], weights, **parameters), module(x))


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_normalisation_of_each_channel(axes: int, batch: tuple[int, ...]) -> None:
    x = normal(*batch, 4, *(5, 4, 3)[:axes])
    module = getattr(torch.nn, f"InstanceNorm{axes}d")(4, affine=True)
    weights = {"weight": normal(4), "bias": normal(4, seed=1)}
    module.load_state_dict(weights)
    parameters = {"num_features": 4, "affine": True, "track_running_stats": False}
    close(call(f"nn.InstanceNorm{axes}d", [x], weights, **parameters), module(x))


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_transposed_convolutions(axes: int) -> None:
    make = getattr(torch.nn, f"ConvTranspose{axes}d")
    module = make(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2, bias=False)
    x = normal(2, 4, *(5, 4, 3)[:axes])
    parameters = {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2, "bias": False}
    weights = {"weight": module.weight.detach()}
    close(call(f"nn.ConvTranspose{axes}d", [x], weights, **parameters), module(x))


def test_maxima_are_put_back_where_they_were() -> None:
    y, places = F.max_pool2d(X2, 2, return_indices=True)
    want = F.max_unpool2d(y, places, 2, output_size=(9, 8))
    close(call("nn.MaxUnpool2d", [y, places], kernel_size=(2, 2), output_size=(9, 8)), want)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("batched", [True, False])
def test_recurrent_layers(kind: str, batched: bool) -> None:
    torch.manual_seed(0)
    more = {"proj_size": 2} if kind == "LSTM" else {}
    options = {"num_layers": 2, "bidirectional": True, "batch_first": True}
    module = getattr(torch.nn, kind)(5, 3, **options, **more)
    x = normal(2, 4, 5) if batched else normal(4, 5)
    weights = {name: value.detach() for name, value in module.state_dict().items()}
    y, states = module(x)
    wanted = [y, *(states if kind == "LSTM" else [states])]
    got = call(f"nn.{kind}", [x], weights, len(wanted), hidden_size=3, **options, **more)
    close(got, wanted)
    # What nobody asks for is not made.
    close(call(f"nn.{kind}", [x], weights, hidden_size=3, **options, **more), y)


@pytest.mark.parametrize(("hidden", "shown", "batch"), [(3, 2, 1), (20, 17, 5), (19, 16, 2)])
def test_projections_run_natively(hidden: int, shown: int, batch: int) -> None:
    torch.manual_seed(0)
    options = {"bidirectional": True, "proj_size": shown}
    module = torch.nn.LSTM(5, hidden, **options)
    x = normal(4, batch, 5)
    weights = {name: value.detach() for name, value in module.state_dict().items()}
    graph = graph_of("nn.LSTM", [x], weights, 3, hidden_size=hidden, **options)
    session = trivium.compile(graph, target="cpu")
    assert {step.kind for step in session.manifest.steps} == {"cpu"}
    y, states = module(x)
    close(list(session.run({"in0": x.numpy()}).values()), [y, *states])


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("masked", [None, "float", "bool", "heads"])
def test_attention_modules(first: bool, masked: str | None) -> None:
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(8, 2, batch_first=first, add_zero_attn=True)
    x = normal(2, 5, 8) if first else normal(5, 2, 8)
    masks = {
        None: None,
        "float": normal(5, 5, seed=1),
        "bool": torch.ones(5, 5, dtype=torch.bool).triu(1),
        "heads": normal(4, 5, 5, seed=1),
    }
    mask = masks[masked]
    weights = {name: value.detach() for name, value in module.state_dict().items()}
    inputs, slots = ([x], ("input",)) if mask is None else ([x, mask], ("input", "attn_mask"))
    got = call(
        "nn.MultiheadAttention",
        inputs,
        weights,
        2,
        slots,
        num_heads=2,
        batch_first=first,
        add_zero_attn=True,
    )
    close(got, module(x, x, x, attn_mask=mask))


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_fast_path_of_transformer_layers(norm_first: bool) -> None:
    sizes = {"dropout": 0.0, "batch_first": True, "norm_first": norm_first}
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, **sizes)
    state = {name: value.detach() for name, value in layer.state_dict().items()}
    names = [
        *("self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight"),
        *("self_attn.out_proj.bias", "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"),
        *("linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"),
    ]
    x = normal(2, 5, 8)
    arguments = ["qkv_weight", "qkv_bias", "proj_weight", "proj_bias", "norm_weight_1"]
    arguments += ["norm_bias_1", "norm_weight_2", "norm_bias_2", "ffn_weight_1", "ffn_bias_1"]
    arguments += ["ffn_weight_2", "ffn_bias_2"]
    weights = {a: state[n] for a, n in zip(arguments, names, strict=True)}
    flags = {"use_gelu": False, "norm_first": norm_first, "eps": 1e-5}
    type_ = "aten::_transformer_encoder_layer_fwd"
    got = call(type_, [x], weights, embed_dim=8, num_heads=2, **flags)
    close(got, layer(x))
