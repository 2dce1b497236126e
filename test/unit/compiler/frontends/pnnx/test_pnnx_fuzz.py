"""Files that were changed at random: a CompileError, or the graph that the text still describes."""

import random
import resource
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pnnx_files import LINEAR, linear
from pnnx_suite import CASES
from trivium.compiler.frontends.pnnx import Graph, read_pnnx, write_pnnx
from trivium.dialects.core.errors import CompileError

ROUNDS = 300
GIGABYTE = 1 << 30

TOKENS = [
    *("0", "1", "-1", "2147483648", "999999999", "9" * 400, "99999999999999999999"),
    *("(1,2)", "(", ")", "()", "(,)", "((((", "[[1],[2]]", "(1,2", "1e999", "-nan", "1e5j", "j"),
    *("@", "$", "#", "=", "@=", "a=", "#0=", "$a=0", "@../../etc=(1)f32", "@data=(1)f32"),
    *("#0=(1)f32", "#0=(999999999,999999999,999999999)f32", "#0=(?,%n)c32", "@w=(0)bool"),
    *("..", "../..", "/", "\0", "\u3000", "e\u0301", "7767517", "%", "@0", "$=", "#=", "x" * 70000),
]


@pytest.fixture(scope="module", params=range(8))
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of a model: of the suite, or one that is made here."""
    folder = tmp_path_factory.mktemp("pair")
    if not CASES:
        linear(folder)
        return folder
    weighty = [case for case in CASES if (case / "model.pnnx.bin").stat().st_size > 300]
    case = random.Random(request.param).choice(weighty)
    shutil.copy(case / "model.pnnx.param", folder / "net.pnnx.param")
    shutil.copy(case / "model.pnnx.bin", folder / "net.pnnx.bin")
    return folder


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    """Make an allocation that a lying header asks for fail."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + GIGABYTE
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def read_all(param: Path) -> tuple[Graph, dict[str, bytes]]:
    """Read a graph and its weights, and look at everything once."""
    graph = read_pnnx(param)
    graph.verify()
    weights = {
        f"{operator.name}.{key}": bytes(attribute.raw())
        for operator in graph.operators
        for key, attribute in operator.attributes.items()
    }
    return graph, weights


def read_or_refuse(param: Path) -> tuple[Graph, dict[str, bytes]] | None:
    """Read all, or return None when the files are refused with words that name them."""
    try:
        return read_all(param)
    except CompileError as error:
        if "net.pnnx" not in str(error):
            raise
        return None


def changed_bytes(pick: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    kind = pick.randrange(4)
    at = pick.randrange(len(changed))
    if kind == 0:
        for _ in range(pick.randint(1, 8)):
            changed[pick.randrange(len(changed))] ^= 1 << pick.randrange(8)
    elif kind == 1:
        del changed[at:]
    elif kind == 2:
        del changed[at : at + pick.randint(1, 64)]
    else:
        changed[at : at + pick.randint(0, 8)] = pick.randbytes(pick.randint(1, 8))
    return bytes(changed)


def changed_tokens(pick: random.Random, text: str) -> str:
    lines = [line.split(" ") for line in text.split("\n")]
    for _ in range(pick.randint(1, 3)):
        line = pick.choice([line for line in lines if line])
        at, kind = pick.randrange(len(line)), pick.randrange(5)
        if kind == 0:
            del line[at]
        elif kind == 1:
            line.insert(at, line[at])
        elif kind == 2:
            other = pick.choice(lines)
            line[at] = pick.choice(other) if other else "0"
        elif kind == 3:
            line[at] = pick.choice(TOKENS)
        else:
            line.insert(at, pick.choice(TOKENS))
    if pick.random() < 0.2:
        pick.shuffle(lines)
    return "\n".join(" ".join(line) for line in lines)


def test_changed_text(pair: Path):
    param = pair / "net.pnnx.param"
    text = param.read_text()
    pick = random.Random(text)
    read = 0
    try:
        for _ in range(ROUNDS):
            param.write_text(changed_tokens(pick, text))
            if found := read_or_refuse(param):
                read += 1
                check_written(*found, pair / "again.param")
    finally:
        param.write_text(text)
    assert read, "no changed file was read: the changes are too coarse"


def check_written(graph: Graph, weights: dict[str, bytes], param: Path) -> None:
    """What was read is written, and read again as the same."""
    write_pnnx(graph, param, param.with_suffix(".bin"))
    once = param.read_bytes()
    again, same = read_all(param)
    assert same == weights
    write_pnnx(again, param, param.with_suffix(".bin"))
    assert param.read_bytes() == once


def test_changed_bytes_of_the_text(pair: Path):
    param = pair / "net.pnnx.param"
    data = param.read_bytes()
    pick = random.Random(data)
    try:
        for _ in range(ROUNDS):
            param.write_bytes(changed_bytes(pick, data))
            if found := read_or_refuse(param):
                check_written(*found, pair / "again.param")
    finally:
        param.write_bytes(data)


def test_changed_bytes_of_the_weights(pair: Path):
    param, archive = pair / "net.pnnx.param", pair / "net.pnnx.bin"
    data = archive.read_bytes()
    _, expected = read_all(param)
    pick = random.Random(data)
    # Data is most of the file; what surrounds it is where a reader may stumble.
    headers = [at for at in range(len(data) - 1) if data[at : at + 2] == b"PK"]
    try:
        for round in range(2 * ROUNDS):
            if round % 2:
                changed = changed_bytes(pick, data)
            else:
                at = min(pick.choice(headers) + pick.randrange(60), len(data) - 1)
                value = pick.choice([b"\0", b"\xff", b"\xff" * 4, b"\xff" * 8, pick.randbytes(2)])
                changed = data[:at] + value + data[at + len(value) :]
            # A new file: the old one may still be mapped.
            archive.unlink()
            archive.write_bytes(changed)
            if found := read_or_refuse(param):
                assert found[1] == expected
    finally:
        archive.unlink(missing_ok=True)
        archive.write_bytes(data)


@given(st.text())
def test_any_text(text: str):
    try:
        read_pnnx(f"{text}\n")
    except CompileError:
        return


tokens = st.sampled_from([*TOKENS, *LINEAR.split()])


@given(st.lists(st.lists(tokens, max_size=12).map(" ".join), max_size=6))
def test_any_lines_of_tokens(lines: list[str]):
    try:
        graph = read_pnnx("\n".join(["7767517", f"{len(lines)} {len(lines)}", *lines, ""]))
    except CompileError:
        return
    graph.verify()
