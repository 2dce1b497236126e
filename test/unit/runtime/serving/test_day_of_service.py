"""Thousands of requests in one process, and sessions that many threads make at once."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import trivium
from day_of_service import clients, serve
from served_networks import networks

COUNT = 2000


def test_a_day_of_service() -> None:
    made = clients(sessions=3)
    serve(made, COUNT // 4, threads=64)  # what runs keep is there then
    day = serve(made, COUNT, threads=64, seed=1)
    assert day.wrong == []
    assert sum(day.counts.values()) == COUNT
    assert min(day.counts[each] for each in ("equal", "cancelled", "failed")) > COUNT / 100
    assert max(day.resident) < day.resident[0] + 32
    for client in made:
        client.pool.close()


def test_sessions_are_made_and_run_in_many_threads(tmp_path: Path) -> None:
    path = tmp_path / "tables.trv"
    trivium.build(networks()["tables"]).save(path)
    loaded, made = trivium.load(path, threads=2), list[Any]()
    start = threading.Barrier(32)

    def work(number: int) -> None:
        rows, columns = np.full((number + 1, 1), 0.5, np.float32), np.ones((1, 5), np.float32)
        start.wait(30)
        sessions = [loaded.clone(), trivium.load(path, threads=2)]
        made.extend((number, each.run({"rows": rows, "columns": columns})) for each in sessions)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(32)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert len(made) == 64
    for number, results in made:
        assert results["y"].shape == (number + 1, 5)
        np.testing.assert_allclose(results["y"], np.tanh(0.5), rtol=1e-6)
