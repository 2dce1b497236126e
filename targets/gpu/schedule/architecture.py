"""The GPUs that code is made for, as frozen data that passes and the cost model reason about."""

from dataclasses import dataclass

from ....dialects.core.errors import CompileError, suggestion
from ....dialects.tile.types import FLOAT8

KIB = 1024
TARGET = "gpu"

PRODUCTS = ("f16", "bf16", "tf32", "i8")
"""The types that matrix units of all architectures multiply."""


@dataclass(frozen=True)
class Architecture:
    """The properties that GPUs of one architecture share, and the size of a usual one.

    `number` is Triton's name of the architecture, and `driver` the first version of CUDA that
    supports it, as cuDriverGetVersion returns it. Of memory and registers: `shared_bytes` is the
    limit of one block, the others are the limits of a multiprocessor for all its blocks.
    `reserved_bytes` is the shared memory that each block takes beside its own. `products` are the
    types that matrix units multiply, "tf32" being f32 with 10 bits of fraction. `descriptors` is
    whether the tensor memory accelerator can move tiles, `warp_groups` whether four warps multiply
    together. For estimates of time: `gigahertz` is the clock under load, `memory_rate` the bytes
    from memory in a nanosecond, `product_rate` the multiplications and additions of f16 that the
    matrix units of a multiprocessor do in a clock, and `lanes` the operations of f32.
    """

    name: str
    summary: str
    number: int | str
    shared_bytes: int
    multiprocessor_bytes: int
    threads: int
    blocks: int
    multiprocessors: int
    gigahertz: float
    memory_rate: int
    product_rate: int
    lanes: int = 128
    driver: int = 0
    products: tuple[str, ...] = PRODUCTS
    backend: str = "cuda"
    warp_size: int = 32
    registers: int = 64 * KIB
    reserved_bytes: int = KIB
    descriptors: bool = False
    warp_groups: bool = False
    aliases: tuple[str, ...] = ()


# Source: CUDA C++ Programming Guide 13.0, tables of technical specifications per compute
# capability; AMD CDNA 3 instruction set architecture, and the data sheets of the cards named.
ARCHITECTURES = (
    Architecture(
        "sm_80",
        "Ampere: A100",
        driver=11000,
        number=80,
        shared_bytes=163 * KIB,
        multiprocessor_bytes=164 * KIB,
        threads=2048,
        blocks=32,
        multiprocessors=108,
        gigahertz=1.41,
        memory_rate=2039,
        product_rate=2048,
        lanes=64,
        aliases=("a100", "ampere"),
    ),
    Architecture(
        "sm_86",
        "Ampere: A10, A40, GeForce 30",
        driver=11010,
        number=86,
        shared_bytes=99 * KIB,
        multiprocessor_bytes=100 * KIB,
        threads=1536,
        blocks=16,
        multiprocessors=72,
        gigahertz=1.695,
        memory_rate=600,
        product_rate=1024,
        aliases=("a10", "a40"),
    ),
    Architecture(
        "sm_89",
        "Ada: L4, L40, GeForce 40",
        driver=11080,
        number=89,
        shared_bytes=99 * KIB,
        multiprocessor_bytes=100 * KIB,
        threads=1536,
        blocks=24,
        multiprocessors=142,
        gigahertz=2.49,
        memory_rate=864,
        product_rate=512,
        products=(*PRODUCTS, *FLOAT8),
        aliases=("l4", "l40", "ada"),
    ),
    Architecture(
        "sm_90",
        "Hopper: H100, H200",
        driver=11080,
        number=90,
        shared_bytes=227 * KIB,
        multiprocessor_bytes=228 * KIB,
        threads=2048,
        blocks=32,
        multiprocessors=132,
        gigahertz=1.83,
        memory_rate=3350,
        product_rate=4096,
        products=(*PRODUCTS, *FLOAT8),
        descriptors=True,
        warp_groups=True,
        aliases=("h100", "h200", "hopper"),
    ),
    Architecture(
        "sm_100",
        "Blackwell: B100, B200",
        driver=12080,
        number=100,
        shared_bytes=227 * KIB,
        multiprocessor_bytes=228 * KIB,
        threads=2048,
        blocks=32,
        multiprocessors=148,
        gigahertz=1.85,
        memory_rate=8000,
        product_rate=8192,
        products=(*PRODUCTS, *FLOAT8),
        descriptors=True,
        warp_groups=True,
        aliases=("b100", "b200", "blackwell"),
    ),
    Architecture(
        "sm_120",
        "Blackwell: GeForce 50, RTX PRO",
        driver=12080,
        number=120,
        shared_bytes=99 * KIB,
        multiprocessor_bytes=100 * KIB,
        threads=1536,
        blocks=24,
        multiprocessors=170,
        gigahertz=2.41,
        memory_rate=1792,
        product_rate=512,
        products=(*PRODUCTS, *FLOAT8),
        descriptors=True,
        aliases=("rtx5090",),
    ),
    Architecture(
        "gfx942",
        "CDNA 3: MI300, MI325",
        number="gfx942",
        shared_bytes=64 * KIB,
        multiprocessor_bytes=64 * KIB,
        threads=2048,
        blocks=32,
        multiprocessors=304,
        gigahertz=2.1,
        memory_rate=5300,
        product_rate=2048,
        backend="hip",
        warp_size=64,
        registers=128 * KIB,
        reserved_bytes=0,
        aliases=("mi300", "mi325"),
    ),
)


def architecture_names() -> tuple[str, ...]:
    """List the names of all architectures."""
    return tuple(architecture.name for architecture in ARCHITECTURES)


def find_architecture(name: str) -> Architecture:
    """Return the architecture of a name; CompileError when there is none."""
    for architecture in ARCHITECTURES:
        if architecture.name == name:
            return architecture
    raise CompileError(
        f"no GPU architecture is called '{name}'{_hint(name)}, "
        f"there are: {', '.join(architecture_names())}"
    )


def find_architectures(target: str) -> tuple[Architecture, ...]:
    """Return the architectures of a target string such as `gpu:sm_80+sm_90`, in its order.

    Raises CompileError for a string that names no architecture, an unknown one, or one twice.
    """
    kind, colon, listed = target.partition(":")
    if kind != TARGET:
        raise CompileError(f"target is '{target}', must begin with '{TARGET}:'")
    names = [name.strip() for name in listed.split("+")]
    if not colon or not all(names):
        raise CompileError(
            f"target '{target}' lacks the name of a GPU architecture, "
            f"there are: {', '.join(architecture_names())}"
        )
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise CompileError(f"target '{target}' names '{twice}' twice")
    return tuple(find_architecture(name) for name in names)


def _hint(name: str) -> str:
    """Suggest an architecture for the name of a card or a misspelt name."""
    plain = name.lower().replace(" ", "")
    for architecture in ARCHITECTURES:
        if plain in architecture.aliases:
            return f", did you mean '{architecture.name}'"
    return suggestion(plain, architecture_names())
