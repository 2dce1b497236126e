"""Measure requests per second of a pool of sessions beside ONNX Runtime, on the same two cores.

python docs/demo/throughput.py MODEL.onnx… [--rounds N] [--seconds S]

Clients send a request when the one before is answered. Trivium has a pool of two sessions of one
thread; ONNX Runtime runs two requests at once on one thread each, or one on two threads, and the
better of both counts. The ways take turns, so that what disturbs the machine disturbs all.
"""

import argparse
import statistics
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime
import trivium
from numpy.typing import NDArray

CORES, CLIENTS = 2, 4
TOLERANCE = 1e-3

Call = Callable[[], object]


def feeds_of(session: trivium.Session) -> dict[str, NDArray]:
    """Return random floats, and zeros and ones for whole numbers."""
    random = np.random.default_rng(0)
    draws = {port.name: random.standard_normal(port.shape) for port in session.inputs}
    kinds = {port.name: np.dtype(port.dtype) for port in session.inputs}
    return {n: (x if kinds[n].kind == "f" else x > 0).astype(kinds[n]) for n, x in draws.items()}


def peer(path: str, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def load(call: Call, seconds: float) -> tuple[float, float, float]:
    """Return requests per second, and the milliseconds of the median and of 99 in 100."""
    times: list[float] = []
    end = time.perf_counter() + seconds

    def client() -> None:
        while (start := time.perf_counter()) < end:
            call()
            times.append(time.perf_counter() - start)

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    middle, late = np.percentile(times, (50, 99)) * 1e3
    return len(times) / (time.perf_counter() - start), middle, late


def ways_of(path: str, pool: trivium.SessionPool, feeds: Mapping[str, NDArray]) -> dict[str, Call]:
    """Return what answers a request, by name; CORES requests are computed at once at most."""
    workers = ThreadPoolExecutor(CORES)
    two, one = peer(path, 1), peer(path, CORES)
    lock = threading.Lock()

    def at_a_time() -> object:
        with lock:
            return one.run(None, feeds)

    return {
        "Trivium": lambda: pool.submit(feeds).result(),
        "ONNX Runtime, 2 x 1 thread": lambda: workers.submit(two.run, None, feeds).result(),
        "ONNX Runtime, 1 x 2 threads": at_a_time,
    }


def measure(path: str, rounds: int, seconds: float) -> None:
    session = trivium.compile(path, threads=1)
    feeds = feeds_of(session)
    with trivium.SessionPool(session, sessions=CORES, waiting=CLIENTS) as pool:
        ways = ways_of(path, pool, feeds)
        wanted = peer(path, 1).run(None, feeds)
        for want, got in zip(wanted, pool.run(feeds).values(), strict=True):
            assert np.abs(got - want).max() <= TOLERANCE * np.abs(want).max(), "outputs differ"
        turns = [{way: load(call, seconds) for way, call in ways.items()} for _ in range(rounds)]
    print(path)
    rates: dict[str, float] = {}
    for way in ways:
        numbers = zip(*(turn[way] for turn in turns), strict=True)
        rate, middle, late = map(statistics.median, numbers)
        rates[way] = rate
        print(f"  {way:28} {rate:8.1f} requests/s   p50 {middle:6.1f} ms   p99 {late:6.1f} ms")
    own = rates.pop("Trivium")
    print(f"  {own / max(rates.values()):.2f} times as many as ONNX Runtime")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.5)
    flags = parser.parse_args()
    for model in flags.models:
        measure(model, flags.rounds, flags.seconds)
