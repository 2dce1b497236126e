"""The contenders: Trivium and its peers, each as a function of the inputs of a model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ...runtime.session import Session
from ..feeds import Arrays
from .agreement import Outputs

OURS = "trivium"


@dataclass(frozen=True)
class Contender:
    """Run a model; outputs come in the order of the model."""

    name: str
    run: Callable[[Arrays], Outputs]


def ours(session: Session) -> Contender:
    """Return a compiled model as a contender."""
    return Contender(OURS, lambda feeds: list(session.run(feeds).values()))


def invite(
    names: Sequence[str], path: str, feeds: Arrays, threads: int, dtype: str
) -> tuple[list[Contender], list[str]]:
    """Load a model in each peer; return those that ran it once, and why the others did not.

    They compute in `dtype`, or in f32 where they have no option for that.
    """
    came: list[Contender] = []
    notes: list[str] = []
    for name in names:
        if find_spec(name) is None:
            notes.append(f"{name} is not installed")
            continue
        try:
            run = PEERS[name](path, feeds, threads, dtype)
            run(feeds)
        except Exception as error:  # not ours: it may raise anything
            notes.append(f"{name} does not run this: {_first_line(error)}")
        else:
            came.append(Contender(name, run))
    return came, notes


def _onnxruntime(path: str, feeds: Arrays, threads: int, _: str) -> Callable[[Arrays], Outputs]:
    runtime: Any = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Its threads may spin while it runs, but not on while it is the turn of others.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


def _openvino(path: str, feeds: Arrays, threads: int, dtype: str) -> Callable[[Arrays], Outputs]:
    runtime: Any = import_module("openvino")
    core = runtime.Core()
    model = core.read_model(path)
    model.reshape({name: array.shape for name, array in feeds.items()})
    options = {
        "INFERENCE_PRECISION_HINT": "bf16" if dtype == "bf16" else "f32",
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = core.compile_model(model, "CPU", options)
    request = compiled.create_infer_request()
    ports = list(compiled.outputs)

    def run(feeds: Arrays) -> Outputs:
        # Without copies of inputs and outputs: the others make none of their inputs either.
        results = request.infer(feeds, share_inputs=True, share_outputs=True)
        return [results[port] for port in ports]

    return run


PEERS = {"onnxruntime": _onnxruntime, "openvino": _openvino}
"""The loader of a model for each peer: a number of threads, the type to compute in."""


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), repr(error))
