"""The header of a model's library, and the tables of C that stand for its manifest."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from ...runtime.contents import Buffer, Port
from ...runtime.cpu.code import CpuRequirements
from ...runtime.cpu.step import CpuStep
from ...runtime.dtypes import itemsize
from ...runtime.manifest import Manifest
from ...runtime.sizes.size_expressions import Size
from ...runtime.step import Step
from ...version import __version__
from ..c.ports import comment, port_bytes, size_macros

_HEADER = """\
/* {source}, compiled by trivium {version} for {machine}, as a library for C and C++.
 *
 *     {name}_session *session;
 *     {name}_error error;
 *     const void *inputs[] = {{…}};
 *     void *outputs[] = {{…}};
 *     if ({name}_create(&session, 1, &error) ||
 *         {name}_run(session, inputs, outputs, &error))
 *         puts(error.text);
 *     {name}_free(session);
 *
 * Arrays are contiguous, in row-major order, aligned to their elements; an output shares memory
 * with nothing else that is given. Sessions share weights and code; each is used by one thread at a
 * time.
 */
#ifndef TRIVIUM_MODEL_{NAME}
#define TRIVIUM_MODEL_{NAME}

#ifdef __cplusplus
extern "C" {{
#endif

{sizes}

typedef struct {name}_session {name}_session;

/* What was wrong with a call: 0 for nothing, 1 the system, 3 this CPU, 4 an argument; and why. */
typedef struct {name}_error {{
    int status;
    char text[500];
}} {name}_error;

/* Create a session that runs on up to `threads` threads, at most 1024; 0 stands for as many as
 * there are CPUs for this process, unless the model was compiled for a number. Return the status of
 * the error, which may be NULL. */
int {name}_create({name}_session **session, unsigned threads, {name}_error *error);

/* Compute all outputs from all inputs, in the order above; return the status of the error. */
int {name}_run({name}_session *session, const void *const inputs[], void *const outputs[],
    {name}_error *error);

/* Let values that a session carries from run to run begin anew; return the status of the error. */
int {name}_reset({name}_session *session, {name}_error *error);

/* Free a session that is not running, or NULL. */
void {name}_free({name}_session *session);

#ifdef __cplusplus
}}
#endif

#endif
"""


def header(name: str, manifest: Manifest, machine: CpuRequirements) -> str:
    """Return the header of a model whose functions begin with `name`."""
    sizes = size_macros(name, given(manifest), returned(manifest))
    known = {"name": name, "NAME": name.upper(), "version": __version__}
    source = comment(manifest.source)
    return _HEADER.format(source=source, machine=machine.machine, sizes="\n".join(sizes), **known)


def given(manifest: Manifest) -> list[Port]:
    """Return the inputs of a run: those that are no state of a session."""
    held = {pair.input for pair in manifest.carried if pair.is_bound}
    return [port for port in manifest.inputs if port.name not in held]


def returned(manifest: Manifest) -> list[Port]:
    """Return the outputs of a run."""
    held = {pair.output for pair in manifest.carried if pair.is_bound}
    return [port for port in manifest.outputs if port.name not in held]


def tables(name: str, manifest: Manifest, machine: CpuRequirements) -> str:
    """Return the tables that `library.c` includes; `machine` is the one whose code is linked.

    Of the manifest, they have what a session needs: the types of ports, where outputs are, steps.
    """
    memory, ports = manifest.memory, (*manifest.inputs, *manifest.outputs)
    updated = manifest.updated.keys()
    lines = [
        f"#define MODEL(function) {name}_##function",
        "extern const void *const model_weights, *const model_state;",
        "extern submit_function submit;",
        "extern work_function work;",
        "extern stop_function stop;",
        *_steps("", _native(manifest.steps)),
        *_steps("LOAD_", _native(manifest.load_steps)),
        *_shapes([port.shape for port in ports], "shape"),
        *_ports("INPUT", manifest.inputs, given(manifest), 0, ()),
        *_ports("OUTPUT", manifest.outputs, returned(manifest), len(manifest.inputs), updated),
        *_carried(manifest),
        *_buffers(manifest.buffers[port.buffer] for port in ports),
        _array("const char *features", map(_text, machine.features)),
        _array(
            "machine MACHINES",
            [
                f"{{{_text(machine.architecture)}, {{features, {len(machine.features)}}}, "
                f"{_text(machine.machine)}}}"
            ],
        ),
        "static const manifest MANIFEST = {",
        f"    .inputs = {{INPUT_PORTS, {len(manifest.inputs)}}},",
        f"    .outputs = {{OUTPUT_PORTS, {len(manifest.outputs)}}},",
        f"    .buffers = {{BUFFERS, {len(ports)}}},",
        f"    .carried = {{CARRIED, {len(manifest.carried)}}},",
        f"    .steps = {{STEPS, {len(manifest.steps)}}},",
        f"    .load_steps = {{LOAD_STEPS, {len(manifest.load_steps)}}},",
        "    .machines = {MACHINES, 1},",
        f"    .memory = {{{memory.arena_bytes}, {memory.arena_lower_bound}, "
        f"{memory.weight_bytes}, {memory.thread_bytes}, {memory.prepared_bytes}}},",
        f"    .threads = {manifest.settings.threads},",
        "};",
    ]
    return "\n".join([*lines, ""])


def _native(steps: Sequence[Step]) -> list[CpuStep]:
    return [step for step in steps if isinstance(step, CpuStep)]


def _steps(prefix: str, steps: Sequence[CpuStep]) -> Iterator[str]:
    for symbol in sorted({step.symbol for step in steps}):
        yield f"extern program_function {symbol};"
    yield _array(f"program_function *const {prefix}PROGRAMS", [step.symbol for step in steps])
    fields = [f"{{.phases = {s.phases}, .thread_bytes = {s.thread_bytes}}}" for s in steps]
    yield _array(f"step {prefix}STEPS", fields)


def _shapes(shapes: Iterable[Sequence[Size]], name: str) -> Iterator[str]:
    for i, shape in enumerate(shapes):
        yield _array(f"int64_t {name}_{i}", map(str, shape))


def _ports(
    kind: str, ports: Sequence[Port], used: Sequence[Port], first: int, updated: Collection[str]
) -> Iterator[str]:
    """Yield the tables of all inputs or outputs, and of those that callers give or get.

    The shapes and the buffers of ports are numbered, from `first` on. Those that are `updated` are
    in the memory of an input.
    """
    shown, listed = list[str](), list[str]()
    for number, port in enumerate(ports, first):
        shape, dtype, name = f"shape_{number}", _text(port.dtype), _text(port.name)
        rank, held = len(port.shape), int(port not in used)
        flags = f"{held}, {int(port.name in updated)}"
        listed.append(f"{{{name}, {{{shape}, {rank}}}, {dtype}, {number}, {flags}}}")
        width, size = itemsize(port.dtype), port_bytes(port)
        if not held:
            shown.append(f"{{{name}, {dtype}, {shape}, {rank}, {width}, {size}}}")
    yield f"#define {kind}_COUNT {len(shown)}"
    yield _array(f"trivium_port {kind}S", shown)
    yield _array(f"port {kind}_PORTS", listed)


def _carried(manifest: Manifest) -> Iterator[str]:
    inputs = [port.name for port in manifest.inputs]
    outputs = [port.name for port in manifest.outputs]
    yield _array("int64_t initial", [str(pair.initial or 0) for pair in manifest.carried])
    pairs = list[str]()
    for i, pair in enumerate(manifest.carried):
        initial = "NULL" if pair.initial is None else f"&initial[{i}]"
        numbers = f"{outputs.index(pair.output)}, {inputs.index(pair.input)}"
        flags = f"{int(not pair.is_bound)}, {int(pair.in_place)}"
        pairs.append(f'{{"", "", {initial}, {flags}, {numbers}}}')
    yield _array("carried CARRIED", pairs)


def _buffers(listed: Iterable[Buffer]) -> Iterator[str]:
    buffers = tuple(listed)
    yield from _shapes([buffer.shape for buffer in buffers], "stored")
    yield _array(
        "buffer BUFFERS",
        [
            f'{{"", {b.base}, {b.offset}, {{stored_{i}, {len(b.shape)}}}, {_text(b.dtype)}}}'
            for i, b in enumerate(buffers)
        ],
    )


def _array(declared: str, items: Iterable[str]) -> str:
    """Return a table, which has one element of zeros where there is none."""
    return f"static {declared}[] = {{{', '.join(items) or '0'}}};"


def _text(text: str) -> str:
    """Return text as C spells it; `?` could begin a trigraph."""
    plain = {*range(ord(" "), 127)} - {*b'"\\?'}
    return '"' + "".join(chr(c) if c in plain else f"\\{c:03o}" for c in text.encode()) + '"'
