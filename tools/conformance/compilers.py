"""How cases are compiled for a target, by the target's name."""

from functools import partial
from importlib import import_module

from ...compiler.driver import compile
from ...compiler.frontends.pnnx import Graph
from ...compiler.onnx_backend import Compile
from ...dialects.core.errors import CompileError
from ...runtime.errors import Fault


def compiler_for(target: str) -> Compile:
    """Return what compiles for a target, or the user's own function, by `module:function`.

    Such a function takes what `trivium.compile` does but the target, and returns a session.
    Raises CompileError for one that cannot be imported.
    """
    module, _, name = target.partition(":")
    if "." not in module:
        return partial(compile, target=target)
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise CompileError(f"target '{target}' cannot be imported: {error}") from None


def check_target(target: str) -> None:
    """Raise CompileError unless a model of one op can be compiled for a target and loaded here."""
    try:
        compiler_for(target)(_small_model())
    except (CompileError, Fault) as error:
        raise CompileError(f"nothing runs on target '{target}' here: {_spell(error)}") from None


def _spell(error: Exception) -> str:
    return str(error).removeprefix("error: ")


def _small_model() -> Graph:
    graph = Graph()
    source = graph.add_operator("pnnx.Input", "in")
    clip = graph.add_operator("nn.ReLU", "clip")
    result = graph.add_operator("pnnx.Output", "out")
    for name, producer, consumer in (("x", source, clip), ("y", clip, result)):
        operand = graph.add_operand(name)
        operand.shape, operand.dtype = (2,), "f32"
        producer.add_output(operand)
        consumer.add_input(operand)
    return graph
