"""Processes that come and go while requests are answered."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from trivium.targets.process_pool import ProcessPool

ECHO = """
import os, shutil, sys
from multiprocessing.connection import Connection
connection = Connection(int(sys.argv[1]))
while True:
    try:
        request = connection.recv()
    except EOFError:
        shutil.rmtree(sys.argv[2])
        break
    {what}
    connection.send({{"made": request["value"], "process": os.getpid()}})
"""


def pool(folder: Path, size: int, what: str = "pass") -> ProcessPool:
    script = folder / "script.py"
    script.write_text(ECHO.format(what=what))
    return ProcessPool(script, size)


def ask(pool: ProcessPool, count: int, seconds: float = 30) -> list[Any]:
    replies: dict[int, Any] = {}
    pool.run([{"value": i} for i in range(count)], replies.__setitem__, seconds)
    assert sorted(replies) == list(range(count))
    return [replies[index] for index in range(count)]


def test_no_more_processes_than_asked_for(tmp_path: Path) -> None:
    made = pool(tmp_path, 2)
    replies = ask(made, 9)
    assert [reply["made"] for reply in replies] == list(range(9))
    assert len({reply["process"] for reply in replies} | {ask(made, 1)[0]["process"]}) == 2
    made.close()


def test_an_idle_process_that_was_killed_is_replaced(tmp_path: Path) -> None:
    made = pool(tmp_path, 1)
    (first,) = ask(made, 1)
    os.kill(first["process"], signal.SIGKILL)
    made.idle[0].process.wait()
    (second,) = ask(made, 1)
    assert second["made"] == 0
    assert second["process"] != first["process"]
    made.close()


def test_a_process_that_went_as_it_was_asked_is_asked_again(tmp_path: Path) -> None:
    """It may end of itself, after waiting for long, between a look at it and the request."""
    once = f"p = {str(tmp_path / 'once')!r}; os.path.exists(p) or (open(p, 'w'), os._exit(0))"
    made = pool(tmp_path, 1, once)
    assert [reply["made"] for reply in ask(made, 3)] == [0, 1, 2]
    made.close()


def test_what_a_process_started_ends_with_it(tmp_path: Path) -> None:
    """The assembler of a kernel that takes too long is not left running."""
    note = tmp_path / "child"
    start = (
        "import subprocess; child = subprocess.Popen(['sleep', '600']); "
        f"open({str(note)!r}, 'w').write(str(child.pid)); child.wait()"
    )
    made = pool(tmp_path, 1, start)
    (reply,) = ask(made, 1, seconds=5)
    assert reply["error"] == "the process took over 5 seconds"
    assert gone(int(note.read_text()))
    made.close()


def test_the_time_of_a_request_begins_when_the_process_is_ready(tmp_path: Path) -> None:
    """Its start may take longer than a request may, but a request no longer for it."""
    script = tmp_path / "script.py"
    wait = "__import__('time').sleep(request['value'])"
    late = "import time; time.sleep(2); connection.send({'ready': True})\nwhile True:"
    script.write_text(ECHO.format(what=wait).replace("while True:", late))
    made = ProcessPool(script, 1, 30)
    replies: dict[int, Any] = {}
    made.run([{"value": 0}, {"value": 20}], replies.__setitem__, 1)
    assert replies[0]["made"] == 0
    assert replies[1] == {"error": "the process took over 1 seconds", "ended": "timeout"}
    made.close()


def test_processes_end_when_their_owner_is_killed(tmp_path: Path) -> None:
    owner = f"""
import os, signal
from pathlib import Path
from trivium.targets.process_pool import ProcessPool
pool = ProcessPool(Path({str(tmp_path / "script.py")!r}), 1)
pool.run([{{"value": 0}}], lambda index, reply: print(reply["process"], flush=True))
os.kill(os.getpid(), signal.SIGKILL)
"""
    pool(tmp_path, 1)
    done = subprocess.run([sys.executable, "-c", owner], stdout=subprocess.PIPE, text=True)
    assert done.returncode == -signal.SIGKILL
    assert gone(int(done.stdout))


def gone(process: int) -> bool:
    """Wait for the end of a process that is not ours, for which there is no other way."""
    deadline = monotonic() + 30
    while monotonic() < deadline:
        status = Path(f"/proc/{process}/stat")
        try:
            if status.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        sleep(0.02)
    return False


def test_a_signal_or_an_exit_code_is_named(tmp_path: Path) -> None:
    for end, words in (("sys.exit(3)", "exit code 3"), ("os.abort()", "signal SIGABRT")):
        made = pool(tmp_path, 1, end)
        (reply,) = ask(made, 1)
        assert reply["error"] == f"the process crashed with {words}"
        made.close()


def test_an_interrupted_run_keeps_no_process(tmp_path: Path) -> None:
    made = pool(tmp_path, 2)

    def interrupt(index: int, reply: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made.run([{"value": i} for i in range(4)], interrupt)
    assert [reply["made"] for reply in ask(made, 4)] == [0, 1, 2, 3]
    made.close()
