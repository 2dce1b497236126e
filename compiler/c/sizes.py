"""The sizes of a run as C: the structures of the header, and the function that computes numbers.

A caller gives the value of each symbol; all that follows from them, which sessions compute by
`runtime/sizes/evaluation.py`, is computed in a run: shapes, places in the arena, words of programs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ...runtime.contents import ARENA, FIRST_PORT, Buffer, Port, Symbol
from ...runtime.cpu.step import CpuStep, SizeTable
from ...runtime.dtypes import itemsize
from ...runtime.manifest import Manifest
from ...runtime.sizes.polynomials import Polynomial, as_number
from .ports import comment, port_bytes
from .reserved import field_name
from .size_code import SizeCode

TEMPLATES = Path(__file__).parent / "template"
ALIGNMENT = 64


@dataclass(frozen=True)
class RunSizes:
    """Print what depends on sizes; nothing, or constants, where a model has no symbols."""

    manifest: Manifest
    name: str

    @property
    def symbols(self) -> Sequence[Symbol]:
        return self.manifest.symbols

    @property
    def fields(self) -> list[str]:
        """Return what the symbols are called in C."""
        return [field_name(symbol.name) for symbol in self.symbols]

    def texts(self) -> Mapping[str, str]:
        """Return what templates have at the names of the keys."""
        return self._of_symbols() if self.symbols else self._of_constants()

    def _of_constants(self) -> Mapping[str, str]:
        upper, memory = self.name.upper(), self.manifest.memory
        inputs, outputs = self.manifest.inputs, self.manifest.outputs
        return {
            **dict.fromkeys(_OF_SYMBOLS, ""),
            "arena_macro": f"#define {upper}_ARENA_BYTES {memory.arena_bytes}\n",
            "arena_bytes": f"{upper}_ARENA_BYTES",
            "arena_name": f"{upper}_ARENA_BYTES",
            "thread_macro": f"#define {upper}_THREAD_BYTES {memory.thread_bytes}\n",
            "thread_bytes": f"{upper}_THREAD_BYTES",
            "client_bytes": "".join(
                f"  static const size_t {kind}_bytes[] = {{{_listed(ports)}}};\n"
                for kind, ports in (("input", inputs), ("output", outputs))
            ),
            "input_bytes": _listed(inputs),
            "output_bytes": _listed(outputs),
            "onnc_output_bytes": str(
                sum(-(-port_bytes(each) // ALIGNMENT) * ALIGNMENT for each in outputs)
            ),
        }

    def _of_symbols(self) -> Mapping[str, str]:
        name, upper = self.name, self.name.upper()
        return {
            "sizes": f"const struct {name}_sizes *sizes, ",
            "given_sizes": "sizes, ",
            "arena_macro": "",
            "arena_bytes": "shapes.arena_bytes",
            "arena_name": "these sizes need, or the memory of the pool",
            "thread_macro": "",
            "thread_bytes": "(thread_bytes)",
            "thread_bytes_parameter": ", thread_bytes",
            "no_bytes": ", 0",
            "shapes": self._structures(),
            "size_codes": "".join(f",\n  {upper}_{code}" for code, _ in self._codes()),
            "size_errors": "".join(
                f"    case {upper}_{code}: return {_quoted(text)};\n"
                for code, text in self._codes()
            ),
            "plan": "".join(f"  {line}\n" for line in self._plan()),
            "bind_sizes": "  job->size = size;\n",
            "size_lines": self._lines(),
            "size_count": str(self.count),
            **self._of_client(),
        }

    def _of_client(self) -> Mapping[str, str]:
        name = self.name
        words = " ".join(f"{symbol.name}={symbol.likely}" for symbol in self.symbols)
        return {
            "client_usage": f" {words}",
            "client_size": "".join(
                f'    else if (read_size(argv[n], "{symbol.name}=", &sizes.{field})) continue;\n'
                for field, symbol in zip(self.fields, self.symbols, strict=True)
            ),
            "client_reader": _CLIENT_READER,
            "client_sizes": (
                f"  struct {name}_sizes sizes = {{0}};\n  struct {name}_shapes shapes;\n"
            ),
            "client_find": (
                f"  code = {name}_find_shapes(&sizes, &shapes);\n"
                f'  if (code) fail("give sizes such as {words}", {name}_error(code));\n'
            ),
            "client_bytes": (
                "  const size_t *const input_bytes = shapes.input_bytes;\n"
                "  const size_t *const output_bytes = shapes.output_bytes;\n"
            ),
            "client_given": "&sizes, ",
        }

    # -- the header ---------------------------------------------------------------------------

    def _codes(self) -> Iterator[tuple[str, str]]:
        """Yield a code for each fault of sizes, and what it says."""
        yield _IMPOSSIBLE, "a tensor has too many bytes at these sizes, or fewer than none"
        for symbol, field in zip(self.symbols, self.fields, strict=True):
            yield f"SIZE_{field}", f"{symbol.name} must be {_range(symbol)}"
        for number, check in enumerate(self.manifest.checks):
            where = f"{check.node}: " if check.node else ""
            yield f"CHECK_{number}", f"{where}{check.message}"

    def _structures(self) -> str:
        fields = (
            f"  int64_t {field}; /* {comment(_range(symbol))} */\n"
            for field, symbol in zip(self.fields, self.symbols, strict=True)
        )
        text = (TEMPLATES / "shapes.h").read_text()
        texts = {
            "name": self.name,
            "NAME": self.name.upper(),
            "fields": "".join(fields),
            "input_axes": str(_most_axes(self.manifest.inputs)),
            "output_axes": str(_most_axes(self.manifest.outputs)),
        }
        for key, value in texts.items():
            text = text.replace(f"@{key}@", value)
        return text

    # -- the source ---------------------------------------------------------------------------

    def _plan(self) -> Iterator[str]:
        yield f"struct {self.name}_shapes shapes;"
        yield f"i64 size[{self.count}];"
        yield "const int code = find_sizes(sizes, &shapes, size);"
        yield "if (code) return code;"
        yield f"if (job->threads > 1 && job->own_bytes < shapes.thread_bytes) return {self._small};"

    @property
    def _small(self) -> str:
        return f"{self.name.upper()}_SMALL_ARENA"

    @cached_property
    def tables(self) -> Mapping[str, SizeTable]:
        """Return the numbers that each program reads, by its symbol."""
        steps = (step for step in self.manifest.steps if isinstance(step, CpuStep))
        return {step.symbol: step.tables[0] for step in steps if step.tables}

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Return where the numbers of each program begin."""
        places: dict[str, int] = {}
        end = 0
        for symbol, table in self.tables.items():
            places[symbol] = end
            end += len(table.words) + len(table.ranges)
        return places

    @cached_property
    def _copied(self) -> list[tuple[int, Buffer]]:
        """Return the outputs that are elsewhere: inputs, constants, and others."""
        manifest = self.manifest
        first = FIRST_PORT + len(manifest.inputs)
        buffers = (manifest.buffers[port.buffer] for port in manifest.outputs)
        return [(i, buffer) for i, buffer in enumerate(buffers) if buffer.base != first + i]

    @cached_property
    def _first_copied(self) -> int:
        """Return where the places of outputs that are copied begin, behind what programs read."""
        return sum(len(t.words) + len(t.ranges) for t in self.tables.values())

    @property
    def count(self) -> int:
        """Return how many numbers there are, and one more: arrays of C are not empty."""
        return self._first_copied + len(self._copied) + 1

    def copies(self) -> str:
        """Return the lines that copy outputs."""
        lines: list[str] = []
        for place, (number, buffer) in enumerate(self._copied, self._first_copied):
            known = type(buffer.offset) is int
            source = f"base[{buffer.base}] + {buffer.offset if known else f'size[{place}]'}"
            size = f"shapes.output_bytes[{number}]" if self.symbols else str(buffer.size_bytes)
            lines.append(f"  memcpy(outputs[{number}], {source}, {size});\n")
        return "".join(lines)

    def _lines(self) -> str:
        """Return the lines that compute all numbers of a run."""
        code = SizeCode(self.manifest.evaluation.formulas)
        self._check_ranges(code)
        self._check_relations(code)
        self._check_sizes(code)
        self._fill_shapes(code)
        self._fill_numbers(code)
        self._stop(code, "wide", _IMPOSSIBLE)
        return "".join(f"  {line}\n" for line in code.lines)

    def _stop(self, code: SizeCode, condition: str, name: str) -> None:
        code.emit(f"if ({condition}) return {self.name.upper()}_{name};")

    def _check_ranges(self, code: SizeCode) -> None:
        parameters = code.parameters
        for parameter, symbol, field in zip(parameters, self.symbols, self.fields, strict=True):
            code.emit(f"const i64 {parameter} = given->{field};")
            faults = [f"{parameter} < {symbol.low}"]
            faults += [f"{parameter} > {symbol.high}"] if symbol.high is not None else []
            faults += [f"{parameter} % {symbol.step}"] if symbol.step != 1 else []
            self._stop(code, " || ".join(faults), f"SIZE_{field}")

    def _check_relations(self, code: SizeCode) -> None:
        formulas = self.manifest.evaluation.checks
        values = [code.value(formula) for formula in formulas]
        self._stop(code, "wide", _IMPOSSIBLE)
        for number, (check, value) in enumerate(zip(self.manifest.checks, values, strict=True)):
            relation = "!= 0" if check.relation == "==" else "< 0"
            self._stop(code, f"{value} {relation}", f"CHECK_{number}")

    def _check_sizes(self, code: SizeCode) -> None:
        for formula in self.manifest.evaluation.sizes:
            self._prove(code, code.value(formula))

    def _prove(self, code: SizeCode, value: str) -> None:
        if not value.isdecimal():
            self._stop(code, f"!is_possible({value})", _IMPOSSIBLE)

    def _fill_shapes(self, code: SizeCode) -> None:
        evaluation, memory = self.manifest.evaluation, self.manifest.memory
        arena = evaluation.arenas.get(ARENA, evaluation.formulas.read(memory.arena_bytes))
        thread = evaluation.formulas.read(memory.thread_bytes)
        self._fill_bytes(code, "arena_bytes", arena)
        self._fill_bytes(code, "thread_bytes", thread)
        for kind, ports in (("input", self.manifest.inputs), ("output", self.manifest.outputs)):
            for number, port in enumerate(ports):
                axes = [evaluation.formulas.read(size) for size in port.shape]
                total = evaluation.formulas.product(axes, itemsize(port.dtype) or 1)
                self._fill_bytes(code, f"{kind}_bytes[{number}]", total)
                for axis, formula in enumerate(axes):
                    shape = f"{kind}_shapes[{number}][{axis}]"
                    code.emit(f"shapes->{shape} = {code.value(formula)};")

    def _fill_bytes(self, code: SizeCode, field: str, formula: Polynomial) -> None:
        value = code.value(formula)
        self._prove(code, value)
        code.emit(f"shapes->{field} = (size_t){value};")

    def _fill_numbers(self, code: SizeCode) -> None:
        """Fill in what programs read; they have the constants of ranges themselves."""
        formulas = self.manifest.evaluation.formulas
        for symbol, table in self.tables.items():
            for place, size in enumerate((*table.words, *table.ranges), self.places[symbol]):
                formula = formulas.read(size)
                if place < self.places[symbol] + len(table.words) or as_number(formula) is None:
                    code.emit(f"size[{place}] = {code.value(formula)};")
        for place, (_, buffer) in enumerate(self._copied, self._first_copied):
            code.emit(f"size[{place}] = {code.value(formulas.read(buffer.offset))};")


_IMPOSSIBLE = "IMPOSSIBLE_SIZES"

_CLIENT_READER = """
/* Read a size as it is given: NAME=NUMBER. */
static int read_size(const char *word, const char *name, int64_t *size) {
  if (strncmp(word, name, strlen(name))) return 0;
  *size = strtoll(word + strlen(name), 0, 10);
  return 1;
}
"""

_OF_SYMBOLS = (
    *("client_usage", "client_size", "client_reader", "client_sizes", "client_find"),
    *("client_given", "bind_sizes"),
    *("sizes", "given_sizes", "thread_bytes_parameter", "no_bytes", "shapes", "size_codes"),
    *("size_errors", "plan"),
)


def _range(symbol: Symbol) -> str:
    high = f"{symbol.low} or more" if symbol.high is None else f"from {symbol.low} to {symbol.high}"
    return f"{high}, a multiple of {symbol.step}" if symbol.step != 1 else high


def _listed(ports: Sequence[Port]) -> str:
    return ", ".join(str(port_bytes(each)) for each in ports) or "0"


def _most_axes(ports: Sequence[Port]) -> int:
    return max([1, *(len(port.shape) for port in ports)])


def _quoted(text: str) -> str:
    """Return a text as C spells it; `?` could begin a trigraph."""
    known = "".join(c if " " <= c <= "~" and c != "?" else "." for c in text)
    return '"' + known.replace("\\", "\\\\").replace('"', '\\"') + '"'
