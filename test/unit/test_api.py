"""What `import trivium` offers."""

import rlcompleter
import subprocess
import sys

import trivium


def test_all_public_names_are_listed_before_they_are_used() -> None:
    script = "import trivium; print(*dir(trivium))"
    listed = subprocess.check_output([sys.executable, "-c", script], text=True).split()
    assert {*trivium.__all__, "__version__"} <= {*listed}


def test_all_listed_names_exist() -> None:
    assert [name for name in dir(trivium) if not hasattr(trivium, name)] == []


def test_tab_completes_public_names() -> None:
    completer = rlcompleter.Completer({"trivium": trivium})
    assert completer.complete("trivium.comp", 0).startswith("trivium.compile")
