"""The networks of the benchmark, made small, against PyTorch in f64; kernels are interpreted.

All six of them go through: convolutions (the first with three channels, and one for each channel),
residual sums, embeddings, attention with a causal mask, with one that is added and with keys and
values that are kept, products of matrices and of single rows.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from gpu_packages import opened
from trivium.compiler.driver import build
from trivium.runtime.gpu.part import GpuPart
from trivium.runtime.gpu.step import GpuStep
from trivium.runtime.manifest import Manifest
from trivium.runtime.package import Package
from trivium.test.unit.runtime.gpu.stand_in import StandIn

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
pytest.importorskip("pnnx")
from trivium.tools.bench.gpu.networks import (  # noqa: E402
    Step,
    Text,
    Vision,
    filled,
    mobilenet,
    resnet,
)

pytestmark = pytest.mark.slow

Inputs = tuple[np.ndarray, ...]

EPSILON = {"f32": 2.0**-24, "tf32": 2.0**-11, "fp16": 2.0**-11, "bf16": 2.0**-8}
"""How far apart a number and the nearest one may be in each precision, relative to it."""

ARCHITECTURES = ("sm_80", "sm_90")
RANDOM = np.random.default_rng(3)
CLASSES, WORDS, PLACES = 24, 96, 40
WIDTH, HEADS, DEPTH = 64, 2, 2


def text(decoder: bool) -> torch.nn.Module:
    return Text(WORDS, PLACES, decoder, WIDTH, HEADS, DEPTH)


def image(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape, np.float32)


def tokens(*shape: int) -> np.ndarray:
    return RANDOM.integers(0, WORDS, shape)


def lengths(most: int, *found: int) -> np.ndarray:
    """Return a mask that hides what is behind the ends of sequences."""
    hidden = np.arange(most) >= np.array(found)[:, None]
    return np.where(hidden, np.float32(-np.inf), np.float32(0))[:, None, None]


# So many tokens, and so deep products, that both are split among programs.
LONG, WIDE = 600, 128
MEMORY = (DEPTH, 1, HEADS, LONG - 1, WIDE // HEADS)

NETWORKS: dict[str, tuple[Callable[[], torch.nn.Module], Inputs]] = {
    "resnet": (lambda: resnet(((1, 16, 1), (2, 64, 2)), CLASSES), (image(1, 3, 22, 18),)),
    "mobilenet": (
        lambda: mobilenet(((1, 8, 1, 1), (6, 16, 2, 2)), 8, 64, CLASSES),
        (image(1, 3, 18, 22),),
    ),
    "vit": (lambda: Vision(WIDTH, HEADS, DEPTH, 8, 32, CLASSES), (image(1, 3, 32, 32),)),
    "bert": (lambda: text(False), (tokens(2, 24), lengths(24, 17, 9))),
    "gpt": (lambda: text(True), (tokens(2, 23),)),
    "step": (
        lambda: Step(Text(WORDS, LONG, True, WIDE, HEADS, DEPTH)),
        (tokens(1, 1), image(*MEMORY), image(*MEMORY)),
    ),
}


def network(name: str) -> torch.nn.Module:
    """Return a network whose norms have weights and statistics that matter."""
    made = filled(NETWORKS[name][0]())
    torch.manual_seed(0)
    for module in made.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.uniform_(-0.5, 0.5)
            module.running_var.uniform_(0.5, 2.0)
        if isinstance(module, (torch.nn.BatchNorm2d, torch.nn.LayerNorm)):
            module.weight.data.uniform_(0.5, 1.5)
            module.bias.data.uniform_(-0.5, 0.5)
    return made


@cache
def wanted(name: str) -> tuple[np.ndarray, ...]:
    inputs = [torch.as_tensor(each) for each in NETWORKS[name][1]]
    with torch.no_grad():
        made = network(name).double()(*(x.double() if x.is_floating_point() else x for x in inputs))
    return tuple(y.numpy() for y in (made if isinstance(made, tuple) else (made,)))


@cache
def package(name: str, precision: str) -> Package:
    inputs = tuple(map(torch.as_tensor, NETWORKS[name][1]))
    target = f"gpu:{'+'.join(ARCHITECTURES)}"
    return build(network(name), target=target, precision=precision, example_inputs=inputs)


def launches(manifest: Manifest) -> int:
    return sum(len(step.launches) for step in manifest.steps if isinstance(step, GpuStep))


def maps(manifest: Manifest, architecture: str) -> int:
    """Count the descriptors that kernels for an architecture are passed."""
    (code,) = (code for code in manifest.part(GpuPart).codes if code.architecture == architecture)
    return sum(p.kind == "tensor_map" for kernel in code.kernels for p in kernel.parameters)


def run(name: str, precision: str, stand_in: StandIn, runs: int) -> None:
    """Run a package, and compare what it computes each time.

    Each launch rounds what it reads and what it writes, in sums that keep about its size.
    """
    made = package(name, precision)
    bound = 2 * EPSILON[precision] * launches(made.manifest)
    with opened(made, stand_in) as session:
        feeds = {p.name: x for p, x in zip(session.inputs, NETWORKS[name][1], strict=True)}
        for _ in range(runs):
            got = session.run(feeds)
            assert not stand_in.errors
            for y, want in zip(got.values(), wanted(name), strict=True):
                assert y.dtype == np.float32
                assert y.shape == want.shape
                assert abs(y - want).max() <= bound * abs(want).max()


# Kernels of an architecture differ most in halves; precisions differ in how products round.
RUNS = [
    *((name, "fp16", "sm_90") for name in NETWORKS),
    *((name, "f32", "sm_80") for name in NETWORKS),
    *((name, precision, "sm_80") for name in ("vit", "step") for precision in ("tf32", "fp16")),
    ("resnet", "tf32", "sm_90"),
]


@pytest.mark.parametrize(("name", "precision", "architecture"), RUNS)
def test_networks_equal_torch(
    name: str, precision: str, architecture: str, stand_in: StandIn
) -> None:
    stand_in.configure(f"architecture={architecture.removeprefix('sm_')}")
    run(name, precision, stand_in, runs=1)


def test_a_network_of_bf16_equals_torch(stand_in: StandIn) -> None:
    run("bert", "bf16", stand_in, runs=1)


@pytest.mark.parametrize("name", ["mobilenet", "gpt", "step"])
def test_replayed_networks_equal_torch(name: str, stand_in: StandIn) -> None:
    run(name, "fp16", stand_in, runs=2)
    assert stand_in.records("cuGraphLaunch")


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_are_on_the_gpu_as_a_whole(name: str) -> None:
    for precision in ("f32", "fp16"):
        steps = package(name, precision).manifest.steps
        kinds = [step.kind for step in steps if step.kind != "copy"]
        assert kinds == ["gpu"], [step.reason for step in steps]


@pytest.mark.parametrize("name", ["resnet", "mobilenet", "vit", "bert", "gpt"])
def test_products_of_halves_use_descriptors_on_hopper(name: str) -> None:
    manifest = package(name, "fp16").manifest
    assert maps(manifest, "sm_90") > 0
    assert maps(manifest, "sm_80") == 0
    assert maps(package(name, "f32").manifest, "sm_90") == 0


@pytest.mark.parametrize(("name", "product"), [("resnet", "conv"), ("step", "mat_mul")])
def test_deep_products_of_few_results_are_split(name: str, product: str) -> None:
    for code in package(name, "f32").manifest.part(GpuPart).codes:
        split = [kernel for kernel in code.kernels if "_partial" in kernel.symbol]
        assert any(kernel.symbol.startswith(product) for kernel in split)


def test_tokens_one_by_one_are_products_of_vectors() -> None:
    (_, code) = package("step", "fp16").manifest.part(GpuPart).codes
    products = [kernel for kernel in code.kernels if kernel.symbol.startswith("mat_mul")]
    assert products
    assert any(kernel.symbol.startswith("attention_partial") for kernel in code.kernels)
    for kernel in products:
        assert not any(block.startswith("BM=") for block in kernel.blocks)
