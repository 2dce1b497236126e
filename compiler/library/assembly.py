"""Objects as one file of assembly for GNU as, which any linker makes a shared library of.

Objects of packages have absolute addresses in their code, which a session writes there. A shared
library must not have them. All are in one instruction, which loads an address of 64 bits:
`movabs $symbol, %reg` takes ten bytes, as `lea symbol(%rip), %reg` and a `nop` of three bytes do,
so that nothing else moves. All other bytes are included as they are.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...dialects.core.errors import CompileError
from ...runtime.cpu.objectfile import ObjectFile, Relocation, Section, Symbol

_ABSOLUTE = 1  # R_X86_64_64
_WORD = 8

_REGISTERS = (
    *("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"),
    *("r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"),
)
_MOVABS = 0xB8  # with the lower three bits of the register; before it, REX.W and their fourth
_LOWER, _UPPER = 0x48, 0x49
_PREFIX = 2

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.$]*")


@dataclass
class Assembly:
    """Hold the text, and the bytes that it includes from a file called `blob`."""

    blob: str
    lines: list[str] = field(default_factory=list[str])
    data: bytearray = field(default_factory=bytearray)

    @property
    def text(self) -> str:
        return "\n".join([*self.lines, '.section .note.GNU-stack,"",@progbits', ""])

    def add_objects(self, objects: Mapping[str, memoryview]) -> None:
        """Add objects, whose symbols are hidden; raise CompileError for other relocations."""
        files = [ObjectFile.read(name, objects[name]) for name in sorted(objects)]
        known = {s.name for file in files for s in file.symbols if s.defined and not s.local}
        for number, file in enumerate(files):
            _Printer(self, file, f".Lo{number}", known).print()

    def add_data(self, name: str, data: bytes | memoryview) -> None:
        """Add bytes on a page, far from code, and at `name` the address of them."""
        self.lines += ['.section .lrodata,"al",@progbits', ".balign 4096", f".L{name}:"]
        self.include(memoryview(data))
        self.lines += ['.section .data.rel.ro,"aw"', ".balign 8", f".globl {name}"]
        self.lines += [f".hidden {name}", f"{name}: .quad .L{name}"]

    def include(self, data: memoryview) -> None:
        if data.nbytes:
            self.lines.append(f'.incbin "{self.blob}", {len(self.data)}, {data.nbytes}')
            self.data += data


class _Printer:
    """Print one object; labels of its own begin with `prefix`."""

    def __init__(self, assembly: Assembly, file: ObjectFile, prefix: str, known: set[str]) -> None:
        self._assembly = assembly
        self._file = file
        self._prefix = prefix
        self._known = known

    def print(self) -> None:
        for index, section in self._file.sections.items():
            relocations = [r for r in self._file.relocations if r.section == index]
            self._line(_directive(section, bool(relocations)))
            self._line(f".balign {section.alignment}")
            self._line(f"{self._prefix}s{index}:")
            self._print_symbols(index)
            if section.data.nbytes:
                self._print_data(section, sorted(relocations, key=lambda r: r.offset))
            else:
                self._line(f".zero {section.size}")

    def _print_symbols(self, index: int) -> None:
        for symbol in self._file.symbols:
            if symbol.section == index and symbol.defined and not symbol.local:
                self._line(f".{'weak' if symbol.weak else 'globl'} {_checked(symbol.name)}")
                self._line(f".hidden {symbol.name}")
                self._line(f".set {symbol.name}, {self._prefix}s{index} + {symbol.value}")

    def _print_data(self, section: Section, relocations: list[Relocation]) -> None:
        position = 0
        for relocation in relocations:
            start, lines = self._relocated(section, relocation)
            self._assembly.include(section.data[position:start])
            for line in lines:
                self._line(line)
            position = relocation.offset + _WORD
        self._assembly.include(section.data[position:])

    def _relocated(self, section: Section, relocation: Relocation) -> tuple[int, list[str]]:
        """Return where what replaces some bytes begins, and its lines."""
        if relocation.kind != _ABSOLUTE:
            raise self._refused(section, f"has a relocation of type {relocation.kind}")
        symbol = self._file.symbols[relocation.symbol]
        place, is_ours = self._place(symbol, relocation.addend)
        if not section.executable:
            return relocation.offset, [f".quad {place}"]
        start = relocation.offset - _PREFIX
        prefix, opcode = section.data[start : relocation.offset] if start >= 0 else (0, 0)
        if prefix not in (_LOWER, _UPPER) or not _MOVABS <= opcode < _MOVABS + 8:
            raise self._refused(section, "has an address in another instruction than movabs")
        register = _REGISTERS[opcode - _MOVABS + 8 * (prefix == _UPPER)]
        if is_ours:
            load = f"lea {place}(%rip), %{register}"
        elif relocation.addend:
            raise self._refused(section, f"uses what lies beside '{symbol.name}'")
        else:
            load = f"mov {place}@GOTPCREL(%rip), %{register}"
        return start, [load, "nopl (%rax)"]

    def _place(self, symbol: Symbol, addend: int) -> tuple[str, bool]:
        """Return a symbol with an addend as an expression, and whether the library defines it."""
        if symbol.defined and symbol.local and symbol.section is not None:
            return f"{self._prefix}s{symbol.section} + {symbol.value + addend}", True
        is_ours = symbol.name in self._known
        name = _checked(symbol.name)
        return (f"{name} + {addend}" if is_ours else name), is_ours

    def _refused(self, section: Section, why: str) -> CompileError:
        return CompileError(
            f"'{self._file.name}' {why} in '{section.name}': no shared library is made of it"
        )

    def _line(self, line: str) -> None:
        self._assembly.lines.append(line)


def _directive(section: Section, relocated: bool) -> str:
    if section.executable:
        return '.section .text,"ax",@progbits'
    if relocated and not section.writable:
        return '.section .data.rel.ro,"aw",@progbits'
    if not section.writable:
        return '.section .rodata,"a",@progbits'
    return ".data" if section.data.nbytes else ".bss"


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise CompileError(f"the symbol {name!r} has no name that an assembler takes")
    return name
