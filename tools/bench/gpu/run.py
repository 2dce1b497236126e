"""Run the cases of the plan, and collect the results."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....runtime.gpu.device import Device
from ....runtime.session import Session
from . import networks, ours, peers
from .measure import Clock, Contender, device_times, host_overheads, ratios
from .packages import open_package
from .plan import MATMUL, Case
from .report import first_line

Row = dict[str, Any]

GRAPH_US = 2000.0
TERAFLOP = 1e12


@dataclass(frozen=True)
class Bench:
    """Hold the folder of packages, the device and the options of a measurement.

    With `autotune`, torch.compile also runs with max-autotune. `note` receives the
    reasons for peers that are left out.
    """

    folder: Path
    device: Device
    clock: Clock
    note: Callable[[str], None]
    autotune: bool = False

    def measure(self, case: Case) -> Row:
        """Measure one case; errors of the contender are raised unchanged."""
        found = _product if case.kind == MATMUL else _network
        return {"case": case.title, **found(case, self)}


def _product(case: Case, bench: Bench) -> Row:
    flops = 2.0 * case.size**3
    runs = max(1, min(200, round(GRAPH_US / (flops / (400 * TERAFLOP) * 1e6))))
    package = open_package(case, bench.folder)
    product = ours.Product(package, bench.device, runs, peers.stream)
    try:
        contenders = [product.contender(), peers.product(case.size, runs)]
        times = device_times(contenders, bench.clock)
    finally:
        product.close()
    rates = {name: flops / (time * 1e-6) / TERAFLOP for name, time in times.items()}
    return {
        "us": times,
        "tflops": rates,
        "ratios": ratios(times, ours.NAME),
        "setting": product.setting,
    }


def _network(case: Case, bench: Bench) -> Row:
    package = open_package(case, bench.folder)
    inputs = networks.inputs(case.name)
    half = case.precision == "fp16"
    wanted = peers.Peer(networks.network(case.name), inputs, half=False).reference()
    with Session(package, device=bench.device) as session:
        error = ours.error_of(ours.outputs(session, inputs), wanted)
        peer = peers.Peer(networks.network(case.name), inputs, half)
        row: Row = {"error": error, "torch_error": ours.error_of(peer.reference(), wanted)}
        contenders = [ours.replayed(session, peers.stream), *_came(peer, bench)]
        row["us"] = times = device_times(contenders, bench.clock)
        row["host_us"] = host_overheads(contenders, bench.clock)
    return {**row, "ratios": ratios(times, ours.NAME)}


def _came(peer: peers.Peer, bench: Bench) -> list[Contender]:
    """Return the peers that can run the network; one that cannot is noted."""
    found: list[Contender] = []
    for invite in (peer.eager, peer.compiled, *([peer.tuned] if bench.autotune else [])):
        try:
            found.append(invite())
        except Exception as error:  # PyTorch may raise anything
            bench.note(f"{invite.__name__} is left out: {first_line(error)}")
    return found
