import ctypes
import gc
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.runtime.cpu.elf import NativeLibrary, load_objects
from trivium.runtime.errors import Fault, PackageError

CALLER = """
llvm.func @expf(f32) -> f32
llvm.func @copy_then_clear(!llvm.ptr, i64)
llvm.mlir.global internal @calls(0 : i64) : i64
llvm.mlir.global external @seven(7 : i64) : i64
llvm.mlir.global private constant @table(dense<[3, 1, 4, 1]> : vector<4xi64>) : vector<4xi64>
llvm.func @scale(%p: !llvm.ptr) {
  %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
  %k = llvm.mlir.constant(dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>) : vector<4xf32>
  %s = llvm.fmul %v, %k : vector<4xf32>
  %zero = llvm.mlir.constant(0 : i32) : i32
  %e = llvm.extractelement %s[%zero : i32] : vector<4xf32>
  %x = llvm.call @expf(%e) : (f32) -> f32
  %r = llvm.insertelement %x, %s[%zero : i32] : vector<4xf32>
  llvm.store %r, %p {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr
  %n = llvm.mlir.constant(16 : i64) : i64
  llvm.call @copy_then_clear(%p, %n) : (!llvm.ptr, i64) -> ()
  %count = llvm.mlir.addressof @calls : !llvm.ptr
  %one = llvm.mlir.constant(1 : i64) : i64
  %old = llvm.atomicrmw add %count, %one seq_cst : !llvm.ptr, i64
  llvm.return
}
llvm.func @look(%i: i64) -> i64 {
  %ten = llvm.mlir.constant(10 : i64) : i64
  llvm.switch %i : i64, ^other [ 0: ^zero, 1: ^one, 2: ^two, 3: ^three, 4: ^four, 5: ^five ]
^zero:
  %p0 = llvm.mlir.addressof @seven : !llvm.ptr
  %v0 = llvm.load volatile %p0 : !llvm.ptr -> i64
  llvm.return %v0 : i64
^one:
  %p1 = llvm.mlir.addressof @calls : !llvm.ptr
  %v1 = llvm.load volatile %p1 : !llvm.ptr -> i64
  llvm.return %v1 : i64
^two:
  %p2 = llvm.mlir.addressof @table : !llvm.ptr
  %q2 = llvm.getelementptr %p2[2] : (!llvm.ptr) -> !llvm.ptr, i64
  %v2 = llvm.load volatile %q2 : !llvm.ptr -> i64
  llvm.return %v2 : i64
^three:
  llvm.return %ten : i64
^four:
  %v4 = llvm.mul %i, %ten : i64
  llvm.return %v4 : i64
^five:
  %v5 = llvm.sub %i, %ten : i64
  llvm.return %v5 : i64
^other:
  llvm.return %i : i64
}
"""
HELPER = """
llvm.func @copy_then_clear(%p: !llvm.ptr, %n: i64) {
  %zero = llvm.mlir.constant(0 : i8) : i8
  %q = llvm.getelementptr %p[4] : (!llvm.ptr) -> !llvm.ptr, f32
  "llvm.intr.memcpy"(%q, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memset"(%p, %zero, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  llvm.return
}
"""
THREADED = """
llvm.mlir.global internal @flag() {addr_space = 0 : i32} : !llvm.ptr {
  %null = llvm.mlir.zero : !llvm.ptr
  llvm.return %null : !llvm.ptr
}
llvm.func @arm(%p: !llvm.ptr) {
  %f = llvm.mlir.addressof @flag : !llvm.ptr
  llvm.store %p, %f : !llvm.ptr, !llvm.ptr
  llvm.return
}
llvm.func @shutdown() {
  %f = llvm.mlir.addressof @flag : !llvm.ptr
  %p = llvm.load %f : !llvm.ptr -> !llvm.ptr
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.store %one, %p : i64, !llvm.ptr
  llvm.return
}
"""


@pytest.fixture(scope="module")
def caller(compile_object: Callable[..., memoryview]) -> memoryview:
    return compile_object(CALLER, "scale")


@pytest.fixture(scope="module")
def helper(compile_object: Callable[..., memoryview]) -> memoryview:
    return compile_object(HELPER, "copy_then_clear")


def number(library: NativeLibrary, symbol: str, *arguments: int) -> int:
    types = [ctypes.c_int64] * len(arguments)
    return ctypes.CFUNCTYPE(ctypes.c_int64, *types)(library.address(symbol))(*arguments)


def test_objects_call_one_another_and_libc(caller: memoryview, helper: memoryview):
    library = load_objects({"caller.o": caller, "helper.o": helper})
    x = np.ones(8, np.float32)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(library.address("scale"))(x.ctypes.data)
    np.testing.assert_allclose(x, [0, 0, 0, 0, np.e, 2, 3, 4], rtol=1e-6)


def test_constants_jump_tables_and_variables_are_in_place(caller: memoryview, helper: memoryview):
    library = load_objects({"caller.o": caller, "helper.o": helper})
    assert [number(library, "look", i) for i in range(7)] == [7, 0, 4, 10, 40, -5, 6]


def test_each_library_has_variables_of_its_own(caller: memoryview, helper: memoryview):
    one, two = (load_objects({"caller.o": caller, "helper.o": helper}) for _ in range(2))
    x = np.ones(8, np.float32)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(one.address("scale"))(x.ctypes.data)
    assert (number(one, "look", 1), number(two, "look", 1)) == (1, 0)


def protections(address: int) -> str:
    for line in Path("/proc/self/maps").read_text().splitlines():
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if start <= address < end:
            return line.split()[1]
    return "none"


def test_nothing_is_writable_and_executable(caller: memoryview, helper: memoryview):
    library = load_objects({"caller.o": caller, "helper.o": helper})
    assert protections(library.address("scale")) == "r-xp"
    assert protections(library.address("seven")) == "rw-p"


def test_code_goes_away_with_its_library(caller: memoryview, helper: memoryview):
    library = load_objects({"caller.o": caller, "helper.o": helper})
    address = library.address("scale")
    del library
    gc.collect()
    assert protections(address) != "r-xp"


def test_shutdown_is_called_before_the_code_goes_away(compile_object: Callable[..., memoryview]):
    library = load_objects({"t.o": compile_object(THREADED, "shutdown")})
    told = np.zeros(1, np.int64)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(library.address("arm"))(told.ctypes.data)
    del library
    gc.collect()
    assert told[0] == 1


def test_position_independent_objects_are_refused(compile_object: Callable[..., memoryview]):
    text = HELPER.replace("copy_then_clear", "elsewhere")
    with pytest.raises(PackageError, match=r"'p.o' has a relocation of type \d+.*without PIC"):
        load_objects({"p.o": compile_object(text, "elsewhere", pic=True)})


def test_what_nobody_defines_is_named(caller: memoryview):
    message = "'caller.o' needs 'copy_then_clear', which neither the package nor the C library"
    with pytest.raises(PackageError, match=message):
        load_objects({"caller.o": caller})


def test_two_definitions_are_refused(helper: memoryview):
    with pytest.raises(PackageError, match=r"'a.o' and 'b.o' both define '.*copy_then_clear'"):
        load_objects({"b.o": helper, "a.o": helper})


def test_an_unknown_symbol_is_named(helper: memoryview):
    with pytest.raises(PackageError, match="no object defines 'segment_9'"):
        load_objects({"a.o": helper}).address("segment_9")


@dataclass
class Assembly:
    """Write an object by hand: one section, its symbols as (name, offset), its relocations."""

    code: bytes
    defines: dict[str, int] = field(default_factory=dict)
    relocations: list[tuple[int, int, str, int]] = field(default_factory=list)
    binding: int = 1
    index: int = 1
    flags: int = 0x6
    kind: int = 1

    def assemble(self) -> memoryview:
        needs = [r[2] for r in self.relocations if r[2] not in self.defines]
        names = [*self.defines, *needs]
        strings = b"\0" + b"".join(name.encode() + b"\0" for name in names)
        symbols = bytes(24)
        for name in names:
            index, value = (self.index, self.defines[name]) if name in self.defines else (0, 0)
            at = strings.index(b"\0" + name.encode() + b"\0") + 1
            symbols += struct.pack("<L2BH2Q", at, self.binding << 4, 0, index, value, 0)
        rela = b"".join(
            struct.pack("<2Qq", offset, (names.index(name) + 1) << 32 | kind, addend)
            for kind, offset, name, addend in self.relocations
        )
        bodies = [self.code, rela, symbols, strings]
        starts = [64 + sum(map(len, bodies[:i])) for i in range(4)]
        rows = [(0,) * 10]
        for kind, flags, link, info, align, body, start in (
            (self.kind, self.flags, 0, 0, 16, self.code, starts[0]),
            (4, 0, 3, 1, 8, rela, starts[1]),
            (2, 0, 4, 1, 8, symbols, starts[2]),
            (3, 0, 0, 0, 1, strings, starts[3]),
        ):
            rows.append((0, kind, flags, 0, start, len(body), link, info, align, 0))
        table = b"".join(struct.pack("<2L4Q2L2Q", *row) for row in rows)
        end = 64 + sum(map(len, bodies))
        header = struct.pack(
            "<16s2HL3QL6H",
            *(b"\x7fELF\x02\x01\x01", 1, 62, 1, 0, 0, end, 0, 64, 0, 0, 64, 5, 4),
        )
        return memoryview(header + b"".join(bodies) + table)


FORTY_TWO = Assembly(b"\xb8\x2a\0\0\0\xc3", {"answer": 0})  # mov eax, 42; ret
WORD = Assembly(struct.pack("<q", 99), {"word": 0}, flags=0x3)
ABS64, PC32, PLT32, ABS32, ABS32S, PC64 = 1, 2, 4, 10, 11, 24


def test_a_near_call_reaches_another_object():
    call = Assembly(b"\xe8\0\0\0\0\xc3", {"f": 0}, [(PLT32, 1, "answer", -4)])
    library = load_objects({"a.o": call.assemble(), "b.o": FORTY_TWO.assemble()})
    assert number(library, "f") == 42


def test_a_near_load_reaches_data():
    load = Assembly(b"\x48\x8b\x05\0\0\0\0\xc3", {"f": 0}, [(PC32, 3, "word", -4)])
    library = load_objects({"a.o": load.assemble(), "b.o": WORD.assemble()})
    assert number(library, "f") == 99


def test_a_wide_distance_counts_from_its_own_place():
    gap = Assembly(bytes(8), {"gap": 0}, [(PC64, 0, "word", 0)], flags=0x2)
    library = load_objects({"a.o": gap.assemble(), "b.o": WORD.assemble()})
    stored = ctypes.c_int64.from_address(library.address("gap")).value
    assert stored == library.address("word") - library.address("gap")


@pytest.mark.parametrize(("kind", "name"), [(ABS32, "R_X86_64_32"), (ABS32S, "R_X86_64_32S")])
def test_an_address_that_does_not_fit_is_refused(kind: int, name: str):
    near = Assembly(bytes(8), {"f": 0}, [(kind, 0, "f", 0)])
    with pytest.raises(PackageError, match=f"'a.o' reaches 'f' by {name}, which is too short"):
        load_objects({"a.o": near.assemble()})


def test_a_libc_function_too_far_for_a_near_call_is_refused():
    call = Assembly(b"\xe8\0\0\0\0\xc3", {"f": 0}, [(PLT32, 1, "memcpy", -4 + (1 << 40))])
    with pytest.raises(PackageError, match="compile it with the large code model"):
        load_objects({"a.o": call.assemble()})


def test_a_weak_definition_yields():
    weak = Assembly(b"\xb8\x01\0\0\0\xc3", {"answer": 0}, binding=2).assemble()
    strong = FORTY_TWO.assemble()
    for objects in ({"a.o": weak, "b.o": strong}, {"a.o": strong, "b.o": weak}):
        assert number(load_objects(objects), "answer") == 42
    assert number(load_objects({"a.o": weak, "b.o": weak}), "answer") == 1


def test_memory_without_bytes_starts_as_zeros():
    zeros = Assembly(bytes(5000), {"zeros": 0}, flags=0x3, kind=8).assemble()
    library = load_objects({"a.o": zeros})
    assert ctypes.string_at(library.address("zeros"), 5000) == bytes(5000)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (Assembly(b"", {"f": 0}, index=0xFFF2), r"leaves open where 'f' lives \(a common symbol\)"),
        (Assembly(b"", flags=0x402), "has thread-local data"),
        (Assembly(b"", flags=0x3, kind=14), "has constructors"),
        (Assembly(b"", flags=0x7), "both writable and executable"),
        (Assembly(b"", {"f": 9}), "is corrupt: it points outside of itself"),
        (Assembly(b"1234", {"f": 0}, [(1, 0, "f", 0)]), "it relocates past ''"),
    ],
)
def test_objects_that_cannot_be_linked_are_refused(part: Assembly, message: str):
    with pytest.raises(PackageError, match=message):
        load_objects({"a.o": part.assemble()})


def test_memory_that_the_system_lacks_is_one_line():
    data = bytearray(Assembly(b"", flags=0x3, kind=8).assemble())
    struct.pack_into("<Q", data, len(data) - 4 * 64 + 32, 1 << 62)
    with pytest.raises(PackageError, match="native code takes 4611686018427387904 bytes, the"):
        load_objects({"a.o": memoryview(data)})


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"#!/bin/sh" + bytes(100)])
def test_other_files_are_refused(data: bytes):
    with pytest.raises(PackageError, match=r"'a.o' is (corrupt|not a relocatable object)"):
        load_objects({"a.o": memoryview(data)})


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_damaged_object_is_loaded_or_refused(
    caller: memoryview, helper: memoryview, data: st.DataObject
):
    damaged = bytearray(caller)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    size = data.draw(st.sampled_from([len(damaged), len(damaged) // 2]))
    with suppress(Fault):
        load_objects({"caller.o": memoryview(damaged)[:size], "helper.o": helper})
