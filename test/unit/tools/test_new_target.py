"""A new target works as it is written: in a folder of its own, found by its entry point."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from trivium.targets import installed
from trivium.test.unit.tools.packages import environment, install
from trivium.tools.commands.new_target import TEMPLATES
from trivium.tools.main import main
from trivium.tools.new_target import DESCRIPTIONS, LONGEST, STAND_IN, TEMPLATE

NAME = "wukong"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a package, and install it where only other processes look."""
    place = tmp_path_factory.mktemp("new")
    assert main(["new-target", NAME, "-o", str(place / "made")]) == 0
    install(place / "made", place / "site")
    return place / "made"


def run(package: Path, *command: str) -> str:
    site = package.parent / "site"
    done = subprocess.run(
        [sys.executable, *command],
        cwd=package,
        env=environment(site),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_own_tests_pass(package: Path) -> None:
    assert "passed" in run(package, "-m", "pytest", "-q", "-p", "no:cacheprovider")


def test_all_of_it_has_the_name(package: Path) -> None:
    files = [file for file in package.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    kept = {file.relative_to(package).as_posix() for file in files}
    template = {file.relative_to(TEMPLATE).as_posix() for file in TEMPLATE.rglob("*.*")}
    assert kept == {name.replace(STAND_IN, NAME) for name in template} | {f"docs/{NAME}.md"}
    assert not [file for file in files if STAND_IN in file.read_text().lower()]
    assert max(len(file.read_text().splitlines()) for file in package.rglob("*.py")) < 150


def test_trivium_lists_it(package: Path) -> None:
    assert NAME in run(package, "-m", "trivium.tools.opt", "--list-targets").split()
    phases = run(package, "-m", "trivium.tools.opt", "--list-phases", NAME)
    assert "select-dla" in phases.partition("IrOptimization")[0]


def test_selection_takes_its_rules_from_the_option(package: Path) -> None:
    module = package / "lookup.mlir"
    entries = ", ".join(str(value - 256 if value > 127 else value // 2) for value in range(256))
    module.write_text(
        "func.func @main(%x: tensor<1x16x2x2xi8>) -> tensor<1x16x2x2xi8> {\n"
        f'  %t = "tri.constant"() {{value = dense<[{entries}]> : tensor<256xi8>}}'
        " : () -> tensor<256xi8>\n"
        '  %y = "tri.gather"(%t, %x)'
        " : (tensor<256xi8>, tensor<1x16x2x2xi8>) -> tensor<1x16x2x2xi8>\n"
        "  return %y : tensor<1x16x2x2xi8>\n}\n"
    )
    command = ["-m", "trivium.tools.opt", str(module)]
    assert f'"{NAME}.leaky_relu"' in run(package, *command, f"--select-dla=target={NAME}")
    assert '"dla.lookup"' in run(package, *command, "--select-dla=target=vanilla")
    module.unlink()


@pytest.mark.slow
def test_its_types_are_sound(package: Path) -> None:
    config = package.parent / "pyrightconfig.json"
    paths = [path for path in sys.path if path]
    options = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": paths}
    config.write_text(json.dumps({"include": [f"made/{NAME}"], **options}))
    found = run(package, "-m", "pyright", "-p", str(config), "--stats")
    assert "0 errors" in found
    assert "Found 8 source files" in found


@pytest.mark.parametrize("name", ["q7", "a_name_of_16_ltr"])
def test_it_is_tidy_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    assert len(name) in (2, LONGEST)
    assert main(["new-target", name, "-o", str(tmp_path / "made")]) == 0
    rules = ["--select", "E,F,I,UP,B,PT,RUF,SIM,D100,D101,PLC"]
    for check in (["check", "-q", *rules, "."], ["format", "-q", "--check", "."]):
        command = [sys.executable, "-m", "ruff", *check]
        done = subprocess.run(command, cwd=tmp_path / "made", capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "'' cannot name a target"),
        ("Wukong", "'Wukong' cannot name a target"),
        ("7up", "'7up' cannot name a target"),
        ("my-npu", "'my-npu' cannot name a target"),
        ("../npu", "'../npu' cannot name a target"),
        ("seventeen_letters", "'seventeen_letters' cannot name a target, must be 1 to 16"),
        ("lambda", "'lambda' cannot name a target"),
        ("vanilla", "a target called 'vanilla' is installed"),
        ("cpu", "a target called 'cpu' is installed"),
        ("tri", "a dialect is called 'tri'"),
        ("arith", "a dialect is called 'arith'"),
        ("json", "a module called 'json' is installed"),
    ],
)
def test_names_that_others_have_or_nobody_can_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    assert main(["new-target", name, "-o", str(tmp_path / "made")]) == 1
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let another distribution have a target called taken."""
    origin = installed.Origin("taken", "somebody", "somebody.target")
    monkeypatch.setattr("trivium.tools.new_target.targets", lambda: (origin,))
    return


@pytest.mark.usefixtures("elsewhere")
def test_the_name_of_another_distribution_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new-target", "taken", "-o", str(tmp_path / "made")]) == 1
    assert "a target called 'taken' is installed" in capsys.readouterr().err


def test_a_folder_that_is_there_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "mine.txt").write_text("mine")
    assert main(["new-target", NAME, "-o", str(tmp_path / "made")]) == 1
    assert f"'{tmp_path}/made' exists" in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "made").iterdir()] == ["mine.txt"]


def test_nothing_is_half_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write, written = Path.write_text, list[str]()

    def fail(self: Path, text: str) -> int:
        written.append(self.name)
        if len(written) == 5:
            raise OSError(28, "No space left on device")
        return write(self, text)

    with monkeypatch.context() as patched:
        patched.setattr("trivium.tools.new_target.Path.write_text", fail)
        assert main(["new-target", NAME, "-o", str(tmp_path / "made")]) == 1
    assert len(written) == 5
    assert "cannot write" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_no_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new-target", NAME, "-o", str(tmp_path / "no" / "made")]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_the_command_offers_the_templates_that_there_are() -> None:
    assert set(TEMPLATES) == set(DESCRIPTIONS)
