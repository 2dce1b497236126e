"""Write the page of an accelerator: its description, and its packets."""

from collections.abc import Iterator

from ..runtime.spelling import spell_size
from ..targets.dla.core.description import Description, Engine, PacketFormat
from ..targets.dla.core.fields import Field
from ..targets.dla.core.packet import InstructionSet
from .spelling import markdown_table

COSTS = {
    "dma": "{latency} cycles, then {bytes_per_cycle} bytes a cycle",
    "mac": "{overhead} cycles, then {rows} x {columns} products a cycle",
    "vec": "{overhead} cycles, then {lanes} elements a cycle",
}
"""The cost of a packet on each kind of engine."""

ENGINES = """
Each engine runs its packets in order. A packet waits until as many packets of each engine are
complete as it says.
"""
PACKETS = """
A packet is some units of {unit} bytes, numbers are little endian. Fields lie in the units behind
the first one, which is the header. `trivium disasm` prints packets by these names.
"""


def accelerator_page(notice: str, instructions: InstructionSet) -> str:
    """Describe an accelerator: memories, engines, arithmetic, packets with fields and limits."""
    description = instructions.description
    parts = [
        f"# Accelerator {description.name}",
        notice,
        f"{_sentence(description.summary)} Its packets have ABI {description.abi}; the hash of its "
        f"description is `{description.digest.hex()}`.",
        "## Memories",
        markdown_table(["memory", "size", "bytes", "alignment", "address"], _memories(description)),
        f"Regions of dram, each with its own base: {_listed(description.regions)}.",
        "## Engines",
        ENGINES.strip(),
        markdown_table(
            ["engine", "kind", "touches", "runs", "a packet takes"], _engines(description)
        ),
        "## Arithmetic",
        _arithmetic(description),
        "## Packets",
        PACKETS.strip().format(unit=description.unit_bytes),
        markdown_table(["header", "bits"], _header(description)),
        *(part for form in description.packets.values() for part in _packet(form, instructions)),
    ]
    return "\n\n".join(parts) + "\n"


def _memories(description: Description) -> Iterator[tuple[str, ...]]:
    for memory in description.memories.values():
        size = f"{spell_size(memory.bytes)}{' a region' if memory.name == 'dram' else ''}"
        address = f"{memory.address_bits} bits"
        yield f"`{memory.name}`", size, str(memory.bytes), str(memory.alignment), address


def _engines(description: Description) -> Iterator[tuple[str, ...]]:
    for engine in description.engines.values():
        runs = [p.name for p in description.packets.values() if p.engine == engine.name]
        lists = _listed(engine.memories), _listed(runs)
        yield f"`{engine.name}`", engine.kind, *lists, _cost(engine)


def _cost(engine: Engine) -> str:
    return COSTS[engine.kind].format(**engine.costs)


def _arithmetic(description: Description) -> str:
    return "\n".join(
        [
            f"- The channels of a pixel are padded to a multiple of {description.atom}.",
            "- Values have 8 bits, sums of products 32 bits.",
            f"- They are multiplied by numbers of {description.multiplier_bits} bits and shifted.",
            f"- What is shifted is rounded `{description.rounding}`.",
        ]
    )


def _header(description: Description) -> Iterator[tuple[str, ...]]:
    for field in description.header_fields:
        yield f"`{field.name}`", _bits(field)


def _packet(form: PacketFormat, instructions: InstructionSet) -> Iterator[str]:
    description = instructions.description
    yield f"### `{form.name}`"
    units = f"{form.units} unit{'s' * (form.units > 1)}"
    yield f"Opcode {form.opcode}, {units}, on engine `{form.engine}`."
    yield instructions.classes[form.name].documentation()
    if not form.fields:
        return
    limits = {limit.field: limit for limit in form.limits}
    rows = [
        (f"`{field.name}`", str(field.unit), _bits(field), _values(field, description), sentence)
        for field in form.fields
        for limit in [limits.get(field.name)]
        for sentence in [f"{limit.least} to {limit.most}: {limit.because}" if limit else ""]
    ]
    yield markdown_table(["field", "unit", "bits", "values", "limit"], rows)


def _bits(field: Field) -> str:
    last = field.bit + field.bits - 1
    return str(field.bit) if field.bits == 1 else f"{field.bit} to {last}"


def _values(field: Field, description: Description) -> str:
    if field.memory:
        alignment = description.memories[field.memory].alignment
        return f"address in `{field.memory}`, a multiple of {alignment}"
    if field.cases:
        return ", ".join(f"{number}: `{case}`" for number, case in enumerate(field.cases))
    if field.family == "region":
        regions = enumerate(description.regions)
        return ", ".join(f"{number}: `{name}`" for number, name in regions)
    return f"{field.range[0]} to {field.range[-1]}"


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
