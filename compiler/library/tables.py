"""The header of a model's library, and the tables of C that stand for its manifest."""

import math
from collections.abc import Iterable, Iterator, Sequence

from ...runtime.contents import Buffer, Port
from ...runtime.cpu.code import CpuRequirements
from ...runtime.cpu.step import CpuStep
from ...runtime.dtypes import itemsize
from ...runtime.manifest import Manifest
from ...runtime.sizes.size_expressions import Size
from ...runtime.step import Step
from ...version import __version__

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

/* Free a session that is not running, or NULL. */
void {name}_free({name}_session *session);

#ifdef __cplusplus
}}
#endif

#endif
"""


def header(name: str, manifest: Manifest, machine: CpuRequirements) -> str:
    """Return the header of a model whose functions begin with `name`."""
    sizes = [
        line
        for kind, ports in (("INPUT", manifest.inputs), ("OUTPUT", manifest.outputs))
        for line in _sizes(f"{name.upper()}_{kind}", ports)
    ]
    known = {"name": name, "NAME": name.upper(), "version": __version__}
    source = _comment(manifest.source)
    return _HEADER.format(source=source, machine=machine.machine, sizes="\n".join(sizes), **known)


def _sizes(prefix: str, ports: Sequence[Port]) -> Iterator[str]:
    yield f"#define {prefix}S {len(ports)}"
    for i, port in enumerate(ports):
        shape = ", ".join(map(str, port.shape))
        described = _comment(f"{port.name}: {port.dtype}[{shape}]")
        yield f"#define {prefix}_{i}_BYTES {_bytes(port)} /* {described} */"


def _comment(text: str) -> str:
    """Return text that does not end the comment that it is in."""
    return "".join(c if c.isprintable() else "?" for c in text).replace("*/", "* /")


def tables(name: str, manifest: Manifest, machine: CpuRequirements) -> str:
    """Return the tables that `library.c` includes; `machine` is the one whose code is linked.

    Of the manifest, they have what a session needs: the types of ports, where outputs are, steps.
    """
    inputs, outputs = manifest.inputs, manifest.outputs
    memory, count = manifest.memory, len(inputs)
    lines = [
        f"#define MODEL(function) {name}_##function",
        "extern const void *const model_weights;",
        "extern submit_function submit;",
        "extern work_function work;",
        "extern stop_function stop;",
        *_steps("", _native(manifest.steps)),
        *_steps("LOAD_", _native(manifest.load_steps)),
        *_shapes([port.shape for port in (*inputs, *outputs)], "shape"),
        _array("trivium_port INPUTS", [_port(port, i) for i, port in enumerate(inputs)]),
        _array("trivium_port OUTPUTS", [_port(port, count + i) for i, port in enumerate(outputs)]),
        _array("port OUTPUT_BUFFERS", [f"{{.buffer = {i}}}" for i, _ in enumerate(outputs)]),
        *_buffers([manifest.buffers[port.buffer] for port in outputs]),
        _array("const char *features", map(_text, machine.features)),
        _array(
            "machine MACHINES",
            [
                f"{{{_text(machine.architecture)}, {{features, {len(machine.features)}}}, "
                f"{_text(machine.machine)}}}"
            ],
        ),
        "static const manifest MANIFEST = {",
        f"    .inputs = {{NULL, {count}}},",
        f"    .outputs = {{OUTPUT_BUFFERS, {len(outputs)}}},",
        f"    .buffers = {{BUFFERS, {len(outputs)}}},",
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


def _port(port: Port, number: int) -> str:
    width, size = itemsize(port.dtype), _bytes(port)
    shape = f"shape_{number}, {len(port.shape)}"
    return f"{{{_text(port.name)}, {_text(port.dtype)}, {shape}, {width}, {size}}}"


def _buffers(buffers: Sequence[Buffer]) -> Iterator[str]:
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


def _bytes(port: Port) -> int:
    return math.prod(port.shape) * (itemsize(port.dtype) or 1)


def _text(text: str) -> str:
    """Return text as C spells it; `?` could begin a trigraph."""
    plain = {*range(ord(" "), 127)} - {*b'"\\?'}
    return '"' + "".join(chr(c) if c in plain else f"\\{c:03o}" for c in text.encode()) + '"'
