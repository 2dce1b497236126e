"""Put the source of a model together: kernels, programs, and the entry that runs them."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...dialects.core.machine import CONTRACT, Machine
from ...runtime.contents import WEIGHTS_ENTRY, Port
from ...runtime.cpu.part import CpuPart
from ...runtime.cpu.step import CpuStep
from ...runtime.package import Package
from ...runtime.sizes.symbols import spelled_ports
from ...runtime.spelling import spell_names
from ...targets.choices import STRICT
from ...targets.cpu.c.helpers import definitions
from ...targets.cpu.c.prelude import PRELUDE
from .macros import checks
from .ports import comment, size_macros
from .sizes import TEMPLATES, RunSizes
from .weight_file import data_offset, weight_file

MOST_OPS = 4
"""How many ops the name of a kernel lists."""

_INCLUDED = re.compile(r"#include <(\w+)\.h>")
_SYMBOL = re.compile(r"\bk_[0-9a-f]{16}\b")


def included_headers() -> frozenset[str]:
    """Return the names of the headers that code includes, which one of its own would hide."""
    texts = (PRELUDE, *(path.read_text() for path in TEMPLATES.iterdir()))
    return frozenset(name for text in texts for name in _INCLUDED.findall(text))


@dataclass(frozen=True)
class CSource:
    """The code of a package in C, under a name that its functions begin with.

    With `onnc`, it has the entry of ONNC's runtime, too, and the client calls that.
    """

    package: Package
    machine: Machine
    name: str
    onnc: bool = False

    # -- files --------------------------------------------------------------------------------

    def files(self) -> dict[str, bytes]:
        """Return the files of the folder by their names; equal models have equal files."""
        texts = {
            f"{self.name}.h": self._filled("model.h"),
            f"{self.name}.c": f'#include "{self.name}.h"\n{self._code}',
            "main.c": self._filled("onnc_main.c" if self.onnc else "main.c"),
            "Makefile": self._filled("Makefile"),
            "CMakeLists.txt": self._filled("CMakeLists.txt"),
        }
        files = {name: text.encode() for name, text in texts.items()}
        weights = weight_file(self.package.manifest.buffers, self._weights, self._identity)
        return {**files, self.weight_file: weights}

    @property
    def weight_file(self) -> str:
        return f"{self.name}.{'weight' if self.onnc else 'weights'}"

    @property
    def _weights(self) -> bytes | memoryview:
        return self.package.entries.get(WEIGHTS_ENTRY, b"")

    @cached_property
    def _identity(self) -> int:
        """Return what tells code and weights of this model from those of all others."""
        digest = hashlib.sha256(self._code.encode())
        digest.update(self._weights)
        return int.from_bytes(digest.digest()[:8], "little")

    # -- code ---------------------------------------------------------------------------------

    @cached_property
    def _code(self) -> str:
        """Return the source but for the header that it includes, which has the identity."""
        kernels = "\n\n".join(self._kernels())
        programs = "\n\n".join(self._text(f"{symbol}.c") for symbol in self._programs)
        begins = "".join(f"enum {{ {s}_sizes = {n} }};\n" for s, n in self._sizes.places.items())
        code = "\n\n".join([kernels, self._part("phases.c"), f"{begins}{programs}"])
        names = self._kernel_names
        code = _SYMBOL.sub(lambda found: names[found[0]], code)
        macro = f"{self.name.upper()}_THREADS"
        begin = f"{checks(self.machine, macro)}\n{PRELUDE}"
        threads = f"#ifdef {macro}\n#include <sched.h>\n#endif\n"
        entry = self._part("sizes.c") if self._sizes.symbols else ""
        entry += self._part("entry.c") + self._part("pool.c")
        entry += self._part("onnc.c") if self.onnc else ""
        return "\n".join([begin, threads, definitions(code), code, "", entry])

    def _kernels(self) -> list[str]:
        made: list[str] = []
        for kernel in self.package.manifest.part(CpuPart).kernels:
            nodes = comment(spell_names(kernel.nodes))
            calls = kernel.calls + kernel.load_calls
            times = "once" if calls == 1 else f"{calls} times"
            made.append(f"/* {nodes}; called {times} */\n{self._text(f'{kernel.symbol}.c')}")
        return made

    @cached_property
    def _kernel_names(self) -> Mapping[str, str]:
        """Return a name for each kernel that says which ops it computes."""
        counts: Counter[str] = Counter()
        names: dict[str, str] = {}
        for kernel in self.package.manifest.part(CpuPart).kernels:
            ops = [op.partition(".")[2] for op in kernel.ops]
            more = ["more"] if len(ops) > MOST_OPS else []
            name = "_".join([*ops[:MOST_OPS], *more])
            counts[name] += 1
            names[kernel.symbol] = f"kernel_{name}_{counts[name]}"
        return names

    def _text(self, entry: str) -> str:
        folder = self.package.manifest.part(CpuPart).machines[0].folder
        return bytes(self.package.entries[f"{folder}{entry}"]).decode()

    @cached_property
    def _programs(self) -> list[str]:
        manifest = self.package.manifest
        steps = [*manifest.load_steps, *manifest.steps]
        return [*dict.fromkeys(step.symbol for step in steps if isinstance(step, CpuStep))]

    @cached_property
    def _sizes(self) -> RunSizes:
        return RunSizes(self.package.manifest, self.name)

    # -- templates ----------------------------------------------------------------------------

    def _part(self, template: str) -> str:
        """Return a template that does not depend on the identity."""
        text = (TEMPLATES / template).read_text()
        onnc = (TEMPLATES / "onnc.h").read_text() + "\n" if self.onnc else ""
        text = text.replace("@onnc_header@", onnc)
        for key, value in self._fixed.items():
            text = text.replace(f"@{key}@", value)
        return text

    def _filled(self, template: str) -> str:
        manifest = self.package.manifest
        text = self._part(template)
        begin = data_offset(manifest.buffers)
        text = text.replace("@id@", f"{self._identity:016X}")
        text = text.replace("@weights_offset@", str(begin))
        return text.replace("@weights_bytes@", str(begin + len(self._weights)))

    @cached_property
    def _fixed(self) -> Mapping[str, str]:
        manifest = self.package.manifest
        memory, symbols = manifest.memory, manifest.symbols
        inputs, outputs = (spelled_ports(p, symbols) for p in (manifest.inputs, manifest.outputs))
        steps = [step for step in manifest.steps if isinstance(step, CpuStep)]
        loads = [step for step in manifest.load_steps if isinstance(step, CpuStep)]
        return {
            "name": self.name,
            "NAME": self.name.upper(),
            "file": self.name,
            "weight_file": self.weight_file,
            "title": comment(f"{manifest.source or 'a model'}, for {self.machine.name}"),
            "client_memory": (TEMPLATES / "memory.c").read_text(),
            "ports": "\n".join([*size_macros(self.name, inputs, outputs), ""]),
            "prepared": str(memory.prepared_bytes),
            "phases": str(sum(step.phases for step in steps)),
            "bases": ", ".join(self._bases()),
            "run": _calls(steps),
            "prepare": self._prepare(loads),
            "copies": self._sizes.copies(),
            "prints": "".join(self._print(n, p) for n, p in enumerate(outputs)),
            "prints_numbered": "".join(
                f"  if (number == {n}) {{\n{self._print(n, p)}  }}\n"
                for n, p in enumerate(manifest.outputs)
            ),
            "flags": " ".join(self._flags),
            "cross": self.machine.cross or "PREFIX-",
            **self._sizes.texts(),
        }

    @property
    def _flags(self) -> list[str]:
        """Return what the compiler is given; strict math fuses no more than the code says."""
        flags = [flag for flag in self.machine.flags if flag != CONTRACT]
        fuses = CONTRACT in self.machine.flags and self.package.manifest.math.mode != STRICT
        return [*flags, CONTRACT if fuses else "-ffp-contract=off"]

    def _bases(self) -> list[str]:
        manifest = self.package.manifest
        fixed = ["arena", "(char *)weights->constants", "(char *)weights->prepared"]
        inputs = [f"(char *)inputs[{n}]" for n in range(len(manifest.inputs))]
        return [*fixed, *inputs, *(f"outputs[{n}]" for n in range(len(manifest.outputs)))]

    def _prepare(self, loads: Sequence[CpuStep]) -> str:
        if not loads:
            return ""
        bases = "0, (char *)weights->constants, prepared"
        head = f"  char *const base[] = {{{bases}}};\n  struct job alone = {{0}};\n"
        calls = "".join(f"  {step.symbol}(&alone, 0, 0);\n" for step in loads)
        return f"{head}  alone.threads = 1;\n  alone.base = base;\n{calls}"

    def _print(self, number: int, port: Port) -> str:
        """Return the lines of the client that print an output."""
        type_, form, cast = _PRINTED.get(port.dtype, ("unsigned char", "%d", "int"))
        name = port.name.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
        printed = "".join(letter if letter.isprintable() else "?" for letter in name)
        size = f"output_bytes[{number}] / sizeof(const {type_})"
        return (
            f'  printf("{printed}:\\n");\n'
            f"  for (size_t n = 0; n < {size}; ++n)\n"
            f'    printf("{form}\\n", ({cast})((const {type_} *)outputs[{number}])[n]);\n'
        )


_PRINTED = {
    "float32": ("float", "%.9g", "double"),
    "float64": ("double", "%.17g", "double"),
    "int8": ("int8_t", "%d", "int"),
    "uint8": ("uint8_t", "%d", "int"),
    "int16": ("int16_t", "%d", "int"),
    "uint16": ("uint16_t", "%d", "int"),
    "int32": ("int32_t", "%ld", "long"),
    "uint32": ("uint32_t", "%lu", "unsigned long"),
    "int64": ("int64_t", "%lld", "long long"),
    "uint64": ("uint64_t", "%llu", "unsigned long long"),
}
"""How the client prints elements: their type, the format, and what they are converted to."""


def _calls(steps: Sequence[CpuStep]) -> str:
    lines: list[str] = []
    first = 0
    for step in steps:
        lines.append(f"  {step.symbol}(job, thread, {first});\n")
        first += step.phases
    return "".join(lines)
