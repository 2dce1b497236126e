"""A graph of Dynamo that is compiled when it is called, and again when its weights change."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import fx, nn

from ...dialects.core.errors import CompileError
from ...runtime.errors import RunError
from .fast_call import Call, fast_call
from .gradients import compute_without_gradients
from .graph_inputs import classify, number_of, size_of, tensor_of
from .partition import divide, refused_nodes
from .report import compiling, report_eager, report_static
from .results import Results
from .tensor_session import TensorSession
from .variant import EAGER, Variant, compile_variant
from .weights import changed, may_freeze

MOST_VARIANTS = 8
"""For how many values of the numbers among its inputs a graph is compiled."""

MOST_CHANGES = 2
"""How often a weight may change before it is an input of the code."""

_Key = tuple[Any, ...]


class CompiledGraph:
    """A graph of Dynamo; `call` takes flat arguments, and returns the outputs in order."""

    def __init__(
        self, module: fx.GraphModule, examples: Sequence[Any], options: Mapping[str, Any]
    ) -> None:
        """Look at a graph, and at example arguments, without compiling it; raises Unsupported."""
        self._module = module
        self._options = options
        self._inputs = classify(module.graph, examples)
        self._results = Results(module.graph)
        self._needs_gradient = [
            bool(getattr(node.meta["example_value"], "requires_grad", False))
            for node in self._results.computed
        ]
        self._is_plain = self._results.are_computed and not any(self._needs_gradient)
        self._volatile = {i for i in self._inputs.weights if not may_freeze(examples[i])}
        self._symbolic = any(self._inputs.axes.values())
        self._changes: Counter[int] = Counter()
        self._fixed: tuple[tuple[int, int], ...] = ()
        self._has_key = bool(self._inputs.numbers)
        self._variants: dict[_Key, Variant] = {}
        self._reported: set[str] = set()
        self._lock = threading.Lock()
        self._eager: Call = module.forward
        self.call: Call = self._call
        """Return the outputs of the graph; tensors are new, or views of arguments."""

    def _call(self, *arguments: Any) -> Sequence[Any]:
        key = self._key(arguments) if self._has_key else ()
        variant = self._variants.get(key)
        if variant is None or (variant.frozen and changed(variant.frozen, arguments)):
            variant = self._compiled(arguments)
        session = variant.session
        if session is None:
            return self._eager(*arguments)
        try:
            if self._is_plain and not variant.mutated:
                return session([tensor_of(arguments[index]) for index in variant.inputs])
            return self._run(session, variant, arguments)
        except RunError as error:  # sizes that torch.export has excluded; nothing has run
            self._refuse(error)
            return self._module.forward(*arguments)

    def _run(
        self, session: TensorSession, variant: Variant, arguments: Sequence[Any]
    ) -> Sequence[Any]:
        if variant.mutated and variant.overlaps(arguments):
            return self._module.forward(*arguments)

        def compute() -> Sequence[torch.Tensor]:
            made = session([tensor_of(arguments[index]).detach() for index in variant.inputs])
            count = len(variant.mutated)
            for index, value in zip(variant.mutated, made[:count], strict=True):
                arguments[index].copy_(value)
            return made[count:]

        computed = compute_without_gradients(compute, self._needs_gradient, arguments)
        return [make(arguments, computed) for make in self._results.made]

    # -- compilation --------------------------------------------------------------------------

    def _key(self, arguments: Sequence[Any]) -> _Key:
        """Return the numbers and sizes that the code is made for."""
        numbers = [repr(number_of(arguments[index])) for index in self._inputs.numbers]
        return *numbers, *(size_of(arguments[index], axis) for index, axis in self._fixed)

    def _compiled(self, arguments: Sequence[Any]) -> Variant:
        """Compile the graph for the arguments of a call, or decide that eager torch runs."""
        with self._lock:
            variant = self._variants.get(self._key(arguments))
            if variant is not None:
                found = changed(variant.frozen, arguments)
                if not found:
                    return variant  # another thread has compiled it
                self._changes.update(found)
                self._volatile.update(i for i in found if self._changes[i] > MOST_CHANGES)
            elif len(self._variants) >= MOST_VARIANTS:
                what = f"compiled for {MOST_VARIANTS} values of its numbers and sizes"
                return self._refuse(CompileError(f"it is {what}, not for those of this call"))
            variant = self._compile(arguments)
            self._fixed += tuple(each for each in variant.fixed if each not in self._fixed)
            self._has_key = self._has_key or bool(self._fixed)
            self._variants[self._key(arguments)] = variant
            self.call = self._fast_call(variant) or self._call
            return variant

    def _fast_call(self, variant: Variant) -> Call | None:
        if variant.session is None or variant.mutated or self._has_key or not self._is_plain:
            return None
        run = variant.session.static_run()
        return run and fast_call(run, variant.inputs, variant.frozen, self._call)

    def _compile(self, arguments: Sequence[Any]) -> Variant:
        graph, volatile = self._module.graph, frozenset(self._volatile)
        work = (self._module, self._results.computed, self._inputs, arguments, volatile)
        try:
            with compiling(graph):
                return compile_variant(*work, self._options, symbolic=self._symbolic)
        except Exception as error:  # torch.export, and operators of users, may raise anything
            if not self._symbolic or refused_nodes(graph, error):
                return self._refuse(error)
            report_static(graph, error)
            self._symbolic = False
            return self._compile(arguments)

    def _refuse(self, error: Exception) -> Variant:
        """Report why eager torch runs; where that is not wanted, raise the error."""
        if self._options.get("strict"):
            raise error
        if str(error) in self._reported:
            return EAGER
        self._reported.add(str(error))
        refused = refused_nodes(self._module.graph, error)
        report_eager(self._module.graph, error, refused)
        if refused:
            self._eager = divide(self._module, refused, self._compiled_part) or self._eager
        return EAGER

    def _compiled_part(self, part: fx.GraphModule) -> nn.Module:
        return CompiledPart(part, self._options)


class CompiledPart(nn.Module):
    """A part of a graph, of which only a call shows what its arguments are."""

    def __init__(self, part: fx.GraphModule, options: Mapping[str, Any]) -> None:
        super().__init__()
        self._part = part
        self._options = options
        self._graph: CompiledGraph | None = None

    def forward(self, *arguments: Any) -> Sequence[Any]:
        if self._graph is None:
            self._graph = CompiledGraph(self._part, arguments, self._options)
        return self._graph.call(*arguments)
