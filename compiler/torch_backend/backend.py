"""`torch.compile(model, backend="trivium")`: what Dynamo calls with each graph."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import fx
from torch._dynamo import config

from ...dialects.core.errors import Unsupported
from .compiled_graph import CompiledGraph
from .options import read_options
from .report import count, report_eager

# Dynamo would leave recurrent layers to eager torch: other backends unroll them over time.
config.allow_rnn = True


def compile_graph(
    module: fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Sequence[Any]]:
    """Return a function that computes what a graph of Dynamo does, compiled at its first call.

    `options` are those of `trivium.compile`. Raises CompileError for wrong ones, and with `strict`,
    Unsupported for a graph that is refused, which else runs in eager torch, for a reason in the
    logs.
    """
    keywords = read_options(options, mode)
    count("graphs")
    try:
        graph = CompiledGraph(module, example_inputs, keywords)
    except Unsupported as error:
        if keywords.get("strict"):
            raise
        report_eager(module.graph, error)
        return module.forward

    def call(*arguments: Any) -> Sequence[Any]:
        return graph.call(*arguments)  # which is another one when it is compiled

    return call
