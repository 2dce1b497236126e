"""Targets of which runs end in each way that there is."""

import os
import signal
import time
from typing import Any

import numpy as np
import trivium
from trivium.compiler.frontends.pnnx import Graph
from trivium.dialects.core.errors import CompileError


def mixed(model: Any, **options: Any) -> Any:
    """Compile for the host, but fail on certain ops."""
    session = trivium.compile(model, target="host", **options)
    if isinstance(model, Graph):
        return session
    op = model.graph.node[0].op_type
    if op == "Neg":
        os.kill(os.getpid(), signal.SIGSEGV)
    if op == "Ceil":
        time.sleep(60)
    if op == "Floor":
        raise ValueError("a bug")
    if op == "Sign":
        raise CompileError("has no sign")
    if op == "Exp":
        return Off(session)
    return session


def fixed(model: Any, **options: Any) -> Any:
    """Compile for the host, where all is well."""
    return trivium.compile(model, target="host", **options)


class Off:
    """A session whose results are a little off."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.inputs = session.inputs

    def run(self, feeds: Any) -> dict[str, Any]:
        results = self.session.run(feeds)
        return {name: np.float32(1.01) * value for name, value in results.items()}
