"""What a header says of a decoder: counts and sizes, windows, scales, angles."""

import math
from dataclasses import dataclass

from ....dialects.core.errors import CompileError, Diagnostic
from .architectures import ARCHITECTURES, Architecture
from .file import GgufFile
from .settings import Settings

LONGEST_CONTEXT = 1 << 24
"""The most positions that have angles."""

SCALINGS = ("none", "linear", "longrope", "yarn")


@dataclass(frozen=True)
class RopeScaling:
    """Describe how the angles of positions are made, apart from factors in tensors.

    Angles are position * base^(-2 i / rotated) / factor; `yarn` mixes that with angles that are not
    divided. Source: Peng et al., "YaRN", 2023.
    """

    base: float
    factor: float = 1.0
    magnitude: float = 1.0
    is_yarn: bool = False
    original_context: int = 0
    beta_fast: float = 32.0
    beta_slow: float = 1.0


@dataclass(frozen=True)
class Experts:
    """Describe the experts of a layer: how many there are, how many are chosen, their sizes."""

    count: int
    used: int
    inner: int
    shared_inner: int


@dataclass(frozen=True)
class Hyperparameters:
    """Describe a decoder: how many layers, heads and elements it has, and how it attends.

    `windows` has the size of each layer's window, which counts the query itself, or -1. Softcaps
    of 0 are none. All layers have `experts`, or none has.
    """

    name: str
    architecture: Architecture
    layers: int
    hidden: int
    inner: int
    heads: int
    shared: int
    head_size: int
    rotated: int
    context: int
    epsilon: float
    scale: float
    windows: tuple[int, ...]
    rope: RopeScaling
    local_rope: RopeScaling
    score_softcap: float
    logit_softcap: float
    experts: Experts | None = None

    @property
    def query_rows(self) -> int:
        return self.heads * self.head_size

    @property
    def key_rows(self) -> int:
        return self.shared * self.head_size


def read_hyperparameters(file: GgufFile) -> Hyperparameters:
    """Read the keys of a file's architecture; raise CompileError with all that is wrong."""
    name = file.metadata.get("general.architecture")
    if not isinstance(name, str):
        raise CompileError(f"cannot read '{file.path}': has no key general.architecture")
    if name not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        fault = f"architecture '{name}' is not supported, must be one of {known}"
        raise CompileError([Diagnostic("general.architecture", fault)])
    settings, flags = Settings(file, name), ARCHITECTURES[name]
    layers = settings.integer("block_count", most=max(len(file.tensors), 1))
    hidden = settings.integer("embedding_length")
    heads = settings.integer("attention.head_count")
    size = settings.integer("attention.key_length", max(hidden // heads, 1))
    shared = settings.integer("attention.head_count_kv", heads)
    norm = "layer_norm_epsilon" if flags.layer_norm else "layer_norm_rms_epsilon"
    rope = _rope(settings)
    windows = _windows(settings, flags, layers)
    wide = flags.wide_heads == layers
    per_head = max(hidden // heads, 1) if wide else size
    scale = settings.real("attention.scale", 1 / math.sqrt(per_head))
    softcaps = [
        settings.real(f"{which}_logit_softcapping", 0.0, above=-1.0) if flags.post_norm else 0.0
        for which in ("attn", "final")
    ]
    settings.fixed("attention.causal", True)
    rotated = settings.integer("rope.dimension_count", size, most=size)
    _check_heads(settings, heads, shared, size, rotated)
    inner = settings.integer("feed_forward_length")
    found = Hyperparameters(
        name,
        flags,
        layers,
        hidden,
        inner=inner,
        heads=heads,
        shared=shared,
        head_size=size,
        rotated=rotated,
        context=settings.integer("context_length", most=LONGEST_CONTEXT),
        epsilon=settings.real(f"attention.{norm}", above=-1.0),
        scale=scale,
        windows=windows,
        rope=rope,
        local_rope=_local_rope(settings, flags, rope),
        score_softcap=softcaps[0],
        logit_softcap=softcaps[1],
        experts=_experts(settings, flags, inner),
    )
    settings.refuse_others()
    if settings.faults:
        raise CompileError(settings.faults)
    return found


def _experts(settings: Settings, flags: Architecture, inner: int) -> Experts | None:
    """Return the experts of a model, which an architecture of that name must have."""
    if flags.gate != "silu" or flags.joined_gate or flags.parallel:
        return None
    must = settings.architecture.endswith("moe")
    count = settings.integer("expert_count", None if must else 0, least=int(must))
    if not count:
        return None
    used = settings.integer("expert_used_count", most=count)
    settings.integer("expert_group_count", 0, least=0, most=1)
    size = settings.integer("expert_feed_forward_length", inner)
    shared = settings.integer("expert_shared_feed_forward_length", inner)
    return Experts(count, used, size, shared)


def _check_heads(settings: Settings, heads: int, shared: int, size: int, rotated: int) -> None:
    if rotated % 2:
        fault = f"rotates {rotated} elements of each head, must be an even number"
        settings.faults.append(Diagnostic(settings.architecture, fault))
    value = settings.integer("attention.value_length", size)
    if value != size:
        fault = f"heads of values have {value} elements and those of keys {size}, must be as many"
        settings.faults.append(Diagnostic(settings.architecture, fault))
    if heads % shared:
        fault = f"has {heads} query heads for {shared} key heads, must be a multiple"
        settings.faults.append(Diagnostic(settings.architecture, fault))


def _windows(settings: Settings, flags: Architecture, layers: int) -> tuple[int, ...]:
    window = settings.integer("attention.sliding_window", flags.default_window, least=0)
    period = flags.window_period
    has = settings.pattern("attention.sliding_window_pattern", layers, period)
    return tuple(window if window and each else -1 for each in has)


def _rope(settings: Settings) -> RopeScaling:
    kind = settings.text("rope.scaling.type", "linear", SCALINGS)
    factor = settings.real("rope.scaling.factor", settings.real("rope.scale_linear", 1.0))
    original = settings.integer(
        "rope.scaling.original_context_length", settings.integer("context_length")
    )
    magnitude = settings.real("rope.scaling.attn_factor", 1.0)
    if kind == "yarn":
        settings.fixed("rope.scaling.yarn_ext_factor", 1.0)
        settings.fixed("rope.scaling.yarn_attn_factor", 1.0)
        magnitude *= 1 + 0.1 * math.log(max(factor, 1.0))
    return RopeScaling(
        base=settings.real("rope.freq_base", 10000.0),
        factor=1.0 if kind == "none" else factor,
        magnitude=magnitude,
        is_yarn=kind == "yarn",
        original_context=original,
        beta_fast=settings.real("rope.scaling.yarn_beta_fast", 32.0),
        beta_slow=settings.real("rope.scaling.yarn_beta_slow", 1.0),
    )


def _local_rope(settings: Settings, flags: Architecture, rope: RopeScaling) -> RopeScaling:
    """Return how layers with a window make angles; where bases differ, nothing else is scaled."""
    if not flags.window_period:
        return rope
    base = settings.real("rope.freq_base_swa", flags.local_base or rope.base)
    return RopeScaling(base) if flags.local_base else RopeScaling(base, rope.factor)
