"""How sessions and packages look in a terminal: one line, however many ports there are."""

from dataclasses import replace

import pytest
from trivium.runtime import Package, Session
from trivium.runtime.contents import Port
from trivium.runtime.manifest import Manifest
from trivium.runtime.spelling import spell_dtype, spell_interface, spell_names, spell_size


def test_a_session_says_what_goes_in_and_out_and_where_it_runs(scale: Package):
    session = Session(scale, threads=2)
    line = "trivium.Session 'scale.onnx': x f32[16] -> y f32[16], cpu, 2 threads"
    assert repr(session) == f"<{line}>"
    session.close()
    assert repr(session) == f"<{line}, closed>"
    assert repr(Session(scale, threads=1)).endswith("cpu, 1 thread>")


def test_a_package_says_for_what_it_is_and_how_large(scale: Package):
    size = sum(map(len, scale.entries.values()))
    line = f"trivium.Package 'scale.onnx': x f32[16] -> y f32[16], for cpu, {size} bytes"
    assert repr(scale) == f"<{line}>"


def test_many_ports_and_odd_names_stay_in_one_line(manifest: Manifest):
    ports = tuple(Port(name, (), "int64", 0) for name in ("a", "b\n", "c", "d", "e"))
    spelled = spell_interface(replace(manifest, source="", inputs=ports, outputs=()))
    assert spelled == ": a i64[], 'b\\n' i64[], c i64[], 2 more -> nothing"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        *(("float32", "f32"), ("bfloat16", "bf16"), ("float8_e4m3fn", "f8_e4m3fn")),
        *(("int64", "i64"), ("uint8", "u8"), ("complex64", "c64"), ("bool", "bool")),
    ],
)
def test_types_have_short_names(name: str, short: str):
    assert spell_dtype(name) == short


def test_spells_the_first_of_many_names() -> None:
    assert spell_names("abcd") == "a, b, c, d"
    assert spell_names("abcdef") == "a, b, c, d, 2 more"


def test_spells_sizes() -> None:
    sizes = {0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 5 << 30: "5.0 GiB"}
    assert {size: spell_size(size) for size in sizes} == sizes
