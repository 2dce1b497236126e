"""Threads on the cores that a user names, a NUMA node has, or a package asks for."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.runtime import cores as cores_module
from trivium.runtime.cores import checked_cores, parse_cores, spell_cores
from trivium.runtime.errors import RunError
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.tools import main as tool

USABLE = tuple(sorted(os.sched_getaffinity(0)))
FIRST = USABLE[0]
ABSENT = max(USABLE) + 1

MODEL = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[256, 512] x) => (float[256, 512] y) { [bend] y = Tanh (x) }
""")
INPUT = np.linspace(-2, 2, 256 * 512, dtype=np.float32).reshape(256, 512)


@pytest.fixture(scope="module")
def package() -> Package:
    return trivium.build(MODEL)


@pytest.mark.parametrize(
    ("given", "cores"),
    [
        (None, ()),
        ("all", ()),
        ([], ()),
        ("3", (3,)),
        ("0-3,8", (0, 1, 2, 3, 8)),
        ("2, 0-1", (0, 1, 2)),
        ([1, 0, 1], (0, 1)),
        (np.array([4]), (4,)),
        (range(2), (0, 1)),
    ],
)
def test_spellings_of_cores(given: Any, cores: tuple[int, ...]) -> None:
    assert parse_cores(given) == cores
    assert parse_cores(spell_cores(cores) or None) == cores


@pytest.mark.parametrize("given", ["", "0-", "3-1", "-1", "a", "0;1", [-1], [True], 3, [1.5]])
def test_other_spellings_are_refused(given: Any) -> None:
    with pytest.raises(RunError, match=r"must be like '0-3,8', \[0, 1\] or 'all'$"):
        parse_cores(given)


def test_runs_are_bound_to_cores(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    """The calling thread is bound while it runs, and one of another pool for good."""
    before = os.sched_getaffinity(0)
    session = Session(package, threads=2, cores=[FIRST])
    assert session.cores == (FIRST,)
    assert f"2 threads on cores {FIRST}>" in repr(session)
    seen: list[set[int]] = []

    def watched(*arguments: Any) -> None:
        seen.append(set(os.sched_getaffinity(0)))
        bind(*arguments)

    bind: Callable[..., None] = os.sched_setaffinity
    monkeypatch.setattr(os, "sched_setaffinity", watched)
    np.testing.assert_allclose(session(INPUT), np.tanh(INPUT), rtol=1e-6, atol=1e-6)
    assert {FIRST} in seen, "the thread was bound, and is set free now"
    assert os.sched_getaffinity(0) == before
    made = [each for each in threading.enumerate() if each.name == f"trivium-1-on-{FIRST}"]
    assert made
    for each in made:
        assert each.native_id is not None
        assert os.sched_getaffinity(each.native_id) == {FIRST}
    clone = session.clone()
    assert clone.cores == (FIRST,)
    np.testing.assert_array_equal(clone(INPUT), Session(package, threads=1)(INPUT))


def test_a_run_that_fails_sets_its_thread_free() -> None:
    before = os.sched_getaffinity(0)
    bound: list[set[int]] = []

    def fail() -> None:
        bound.append(set(os.sched_getaffinity(0)))
        raise KeyError

    with pytest.raises(KeyError):
        cores_module.on_cores((FIRST,), [fail])()
    assert bound == [{FIRST}]
    assert os.sched_getaffinity(0) == before


def test_the_number_of_threads_is_that_of_the_cores(package: Package) -> None:
    assert Session(package, cores=[FIRST]).threads == 1
    assert Session(package, cores="all").cores == ()


def _nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **nodes: str) -> None:
    for name, text in nodes.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "cpulist").write_text(f"{text}\n")
    (tmp_path / "has_cpu").write_text("0-1\n")
    monkeypatch.setattr(cores_module, "NODES", str(tmp_path))


def test_cores_of_a_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: Package) -> None:
    cores = {"node0": spell_cores(USABLE), "node1": f"{ABSENT}-{ABSENT + 3}", "node2": ""}
    _nodes(tmp_path, monkeypatch, **cores)
    assert checked_cores(None, 0, ()) == USABLE
    assert Session(package, numa=0).cores == USABLE
    for numa, fault in (
        (3, "numa is 3, this machine has nodes 0-2"),
        (1, f"numa is 1, with cores {ABSENT}-{ABSENT + 3}: this process may use"),
        (2, "numa is 2, with cores none: this process may use"),
        (-1, "numa is -1, must be a number from 0 on"),
    ):
        with pytest.raises(RunError, match=fault):
            Session(package, numa=numa)
    monkeypatch.setattr(cores_module, "NODES", str(tmp_path / "absent"))
    with pytest.raises(RunError, match="numa is 0, this machine has nodes none"):
        Session(package, numa=0)


def test_refusals(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RunError, match=f"cores has {ABSENT}, this process may use {FIRST}"):
        Session(package, cores=[FIRST, ABSENT])
    with pytest.raises(RunError, match="cores and numa both say where threads run: give one"):
        Session(package, cores=[FIRST], numa=0)
    monkeypatch.delattr(os, "sched_setaffinity")
    with pytest.raises(RunError, match="this system does not bind threads to cores"):
        Session(package, cores=[FIRST])


def test_settings_are_saved_and_overridden(tmp_path: Path) -> None:
    path = tmp_path / "bend.trv"
    trivium.compile(MODEL, threads=3, cores=[FIRST]).save(path)
    session = trivium.load(path)
    assert (session.threads, session.cores) == (3, (FIRST,))
    other = trivium.load(path, threads=1, cores="all")
    assert (other.threads, other.cores) == (1, ())
    again = trivium.build(path, threads=2).manifest.settings
    assert (again.threads, again.cores) == (2, (FIRST,))
    assert trivium.build(path, cores="all").manifest.settings.cores == ()
    plain = trivium.build(MODEL).manifest
    assert "settings" not in plain.to_json()


def test_cores_that_a_package_asks_for_in_vain(tmp_path: Path) -> None:
    path = tmp_path / "bend.trv"
    trivium.build(MODEL, cores=f"{FIRST},{ABSENT}").save(path)
    with pytest.raises(RunError, match=f"the package asks for cores {ABSENT}, this process may "):
        trivium.load(path)
    assert trivium.load(path, cores="all").cores == ()


def test_exact_sizes_have_the_settings_of_their_package(tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[N, 8] x) => (float[N, 8] y) { y = Tanh (x) }
    """)
    package = trivium.build(model, exact=[{"N": 4}], threads=3, cores=[FIRST])
    assert package.manifest.to_json().count('"settings"') == 1
    session = Session(package)
    session.run({"x": np.ones((4, 8), np.float32)})
    ((_, exact),) = session._exact.opened
    assert (exact.threads, exact.cores) == (3, (FIRST,))


def test_settings_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, package = str(tmp_path / "bend.onnx"), str(tmp_path / "bend.trv")
    onnx.save(MODEL, model)
    compiled = ["compile", model, "-o", package, "--threads", "3", "--cores", str(FIRST)]
    assert tool.main(compiled) == 0
    for flags, text in (
        ([], f"3 threads on cores {FIRST}>"),
        (["--threads", "1", "--cores", "all"], "1 thread>"),
        (["--cores", "all"], "3 threads>"),
    ):
        capsys.readouterr()
        assert tool.main(["load", package, *flags]) == 0
        assert text in capsys.readouterr().out
    assert tool.main(["info", package]) == 0
    assert f"sessions run on\n  3 threads\n  cores {FIRST}\n" in capsys.readouterr().out
    assert tool.main(["load", package, "--cores", str(ABSENT)]) == 1
    assert f"cores has {ABSENT}, this process may use" in capsys.readouterr().err
    assert tool.main(["run", package, "--random", "--threads", "2"]) == 0


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"threads": 1025}, "'settings.threads' is 1025, must be from 0 to 1024"),
        ({"cores": (1, 0)}, r"'settings.cores' is \[1, 0\], must be different, in order"),
        ({"cores": (-1,)}, r"'settings.cores' is \[-1\], must be different, in order"),
    ],
)
def test_forged_settings_are_refused(package: Package, change: Any, fault: str) -> None:
    manifest = package.manifest
    settings = manifest.settings.changed(**change)
    with pytest.raises(trivium.PackageError, match=fault):
        Package.create(manifest.changed(settings=settings), package.entries)
