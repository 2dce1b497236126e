"""Link relocatable objects in memory and make their functions callable."""

import ctypes
import mmap
import os
import struct
import sys
import weakref
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from ..errors import PackageError, RunError
from .objectfile import ObjectFile, Relocation, Section, Symbol

_PAGE = mmap.PAGESIZE

# The process itself has libc; the others for what the code generator may call.
_LIBRARIES = (None, "libm.so.6", "libgcc_s.so.1")

SHUTDOWN = "shutdown"


class _Form(NamedTuple):
    """Describe how a relocation is stored: its layout, and whether it is relative to its place."""

    name: str
    layout: struct.Struct
    relative: bool


_FORMS = {
    1: _Form("R_X86_64_64", struct.Struct("<Q"), relative=False),
    2: _Form("R_X86_64_PC32", struct.Struct("<i"), relative=True),
    4: _Form("R_X86_64_PLT32", struct.Struct("<i"), relative=True),
    10: _Form("R_X86_64_32", struct.Struct("<I"), relative=False),
    11: _Form("R_X86_64_32S", struct.Struct("<i"), relative=False),
    24: _Form("R_X86_64_PC64", struct.Struct("<q"), relative=True),
}

_Place = tuple[int, int]  # the number of an object, the number of a section in it


class NativeLibrary:
    """Own linked code; its functions may be called as long as this lives.

    Code that starts threads defines `shutdown`, which returns when the last one has ended; it is
    called before the code goes away.
    """

    def __init__(self, image: mmap.mmap, symbols: Mapping[str, int]) -> None:
        self._image = image
        self._symbols = symbols
        if SHUTDOWN in symbols:
            # Holds the image, so the code stays until its threads have left it.
            weakref.finalize(self, _call, symbols[SHUTDOWN], image)

    def __contains__(self, symbol: str) -> bool:
        return symbol in self._symbols

    def address(self, symbol: str) -> int:
        """Return where the global `symbol` is."""
        if symbol not in self._symbols:
            raise PackageError(f"no object defines '{symbol}'")
        return self._symbols[symbol]


def load_objects(objects: Mapping[str, memoryview]) -> NativeLibrary:
    """Link objects with one another and with libc; no memory is writable and executable at once."""
    files = [ObjectFile.read(name, objects[name]) for name in sorted(objects)]
    return _Linker(files).link()


class _Linker:
    def __init__(self, files: list[ObjectFile]) -> None:
        self.files = files
        self.places: dict[_Place, int] = {}
        self.spans: list[tuple[int, int, int]] = []
        self.image = _allocate(self._assign_addresses())
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.image))
        self.symbols = self._globals()

    def link(self) -> NativeLibrary:
        for place, section in self._sections():
            start = self.places[place]
            self.image[start : start + len(section.data)] = bytes(section.data)
        for number, file in enumerate(self.files):
            for relocation in file.relocations:
                self._relocate(number, file, relocation)
        for start, size, protection in self.spans:
            _protect(self.base + start, size, protection)
        return NativeLibrary(self.image, self.symbols)

    def _sections(self) -> Iterable[tuple[_Place, Section]]:
        for number, file in enumerate(self.files):
            for index, section in file.sections.items():
                yield (number, index), section

    def _assign_addresses(self) -> int:
        """Give each section a place: first code, then constants, then data, each on own pages."""
        end = 0
        for protection in (mmap.PROT_READ | mmap.PROT_EXEC, mmap.PROT_READ, 0):
            start = end
            for place, section in self._sections():
                if _protection(section, self.files[place[0]].name) == protection:
                    end += -end % section.alignment
                    self.places[place] = end
                    end += section.size
            end += -end % _PAGE
            if protection and end > start:
                self.spans.append((start, end - start, protection))
        return end or _PAGE

    def _globals(self) -> dict[str, int]:
        addresses: dict[str, int] = {}
        strong: dict[str, str] = {}
        for number, file in enumerate(self.files):
            for symbol in file.symbols:
                if symbol.local or not symbol.defined:
                    continue
                if not symbol.weak and symbol.name in strong:
                    first = strong[symbol.name]
                    raise PackageError(f"'{first}' and '{file.name}' both define '{symbol.name}'")
                if not symbol.weak:
                    strong[symbol.name] = file.name
                if not symbol.weak or symbol.name not in addresses:
                    addresses[symbol.name] = self._own_address(number, symbol)
        return addresses

    def _own_address(self, number: int, symbol: Symbol) -> int:
        if symbol.section is None:
            return symbol.value
        return self.base + self.places[number, symbol.section] + symbol.value

    def _resolve(self, number: int, symbol: Symbol) -> int:
        if symbol.defined and symbol.local:
            return self._own_address(number, symbol)
        address = self.symbols.get(symbol.name) or _system_address(symbol.name)
        if address is None and not symbol.weak:
            raise PackageError(
                f"'{self.files[number].name}' needs '{symbol.name}', which neither the package "
                "nor the C library defines"
            )
        return address or 0

    def _relocate(self, number: int, file: ObjectFile, relocation: Relocation) -> None:
        form = _FORMS.get(relocation.kind)
        if form is None:
            raise PackageError(
                f"'{file.name}' has a relocation of type {relocation.kind}, known are "
                f"{', '.join(form.name for form in _FORMS.values())}: compile it without PIC"
            )
        section = file.sections[relocation.section]
        if relocation.offset + form.layout.size > section.size:
            raise PackageError(f"'{file.name}' is corrupt: it relocates past '{section.name}'")
        symbol = file.symbols[relocation.symbol]
        place = self.places[number, relocation.section] + relocation.offset
        value = self._resolve(number, symbol) + relocation.addend
        value -= self.base + place if form.relative else 0
        try:
            form.layout.pack_into(self.image, place, value)
        except struct.error:
            raise PackageError(
                f"'{file.name}' reaches '{symbol.name or section.name}' by {form.name}, which is "
                "too short for its distance: compile it with the large code model"
            ) from None


def _allocate(size: int) -> mmap.mmap:
    try:
        return mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError, MemoryError):
        raise PackageError(f"native code takes {size} bytes, the system has less") from None


def _call(address: int, image: mmap.mmap) -> None:
    ctypes.CFUNCTYPE(None)(address)()


def _protection(section: Section, file: str) -> int:
    """Return the final protection of a section; 0 where it stays writable."""
    if section.executable and section.writable:
        raise PackageError(f"'{file}' has '{section.name}' both writable and executable")
    if section.executable:
        return mmap.PROT_READ | mmap.PROT_EXEC
    return 0 if section.writable else mmap.PROT_READ


@cache
def _system_address(name: str) -> int | None:
    for library in _libraries():
        try:
            return ctypes.cast(library[name], ctypes.c_void_p).value
        except AttributeError:
            continue
    return None


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    found: list[ctypes.CDLL] = []
    for name in _LIBRARIES:
        try:
            found.append(ctypes.CDLL(name))
        except OSError:
            continue
    return tuple(found)


def _protect(address: int, size: int, protection: int) -> None:
    if sys.platform != "linux":
        raise RunError(f"native code runs on Linux, this is {sys.platform}")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), protection):
        reason = os.strerror(ctypes.get_errno())
        raise RunError(f"the system forbids native code made at run time: {reason}")
