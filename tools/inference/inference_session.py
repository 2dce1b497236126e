"""`InferenceSession`: a session with the methods of onnxruntime's."""

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike, NDArray

from ...runtime import SUFFIX, load
from ...runtime.session import Session
from .binding import IOBinding
from .errors import Fail, InvalidArgument, NoSuchFile, opening, running
from .options import RunOptions, SessionOptions
from .providers import Provider, compile_options
from .values import NodeArg, OrtValue

_ARCHIVE = b"PK"
"""The first bytes of a package; a model of ONNX begins with others."""


_NO_VERSION = (1 << 63) - 1


@dataclass(frozen=True)
class ModelMetadata:
    """Record what a model says of itself."""

    producer_name: str = ""
    graph_name: str = ""
    domain: str = ""
    description: str = ""
    graph_description: str = ""
    version: int = _NO_VERSION
    custom_metadata_map: Mapping[str, str] = field(default_factory=dict[str, str])


class InferenceSession:
    """Run a model of ONNX, which is compiled first, or a package.

    Several threads may call `run` at once: there is a session for each, which share all but their
    memory. Values are those of `trivium.compile`, and errors have the names of onnxruntime.
    """

    def __init__(
        self,
        path_or_bytes: str | os.PathLike[str] | bytes,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Provider] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Open a model: a path or the bytes of a file.

        A provider may be `CPUExecutionProvider`, or `TriviumExecutionProvider` with options of
        `trivium.compile`. Raises Fail and NoSuchFile.
        """
        self._options = sess_options or SessionOptions()
        self._providers, compiled = compile_options(providers, provider_options)
        self._metadata: ModelMetadata | None = None
        with opening():
            self._first = self._open(path_or_bytes, compiled)
        self._idle = [self._first]
        self._inputs = [NodeArg.of(port) for port in self._first.inputs]
        self._outputs = [NodeArg.of(port) for port in self._first.outputs]
        self._threads: ThreadPoolExecutor | None = None

    def _open(self, source: str | os.PathLike[str] | bytes, compiled: dict[str, Any]) -> Session:
        if not isinstance(source, bytes) and not Path(source).exists():
            raise NoSuchFile(f"there is no '{os.fspath(source)}'")
        loading = self._options.load_options()
        if _is_package(source):
            if compiled:
                raise Fail(f"a package is compiled: options {', '.join(compiled)} come too late")
            return load(source, **loading)
        from ...compiler.driver import build

        self._metadata = _metadata_of(source)
        package = build(source, **(self._options.compile_options() | compiled))
        return Session(package, **loading)

    def get_inputs(self) -> list[NodeArg]:
        """Return what goes in, in order."""
        return self._inputs

    def get_outputs(self) -> list[NodeArg]:
        """Return what comes out, in order."""
        return self._outputs

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Return nothing: constants are compiled."""
        return []

    def get_modelmeta(self) -> ModelMetadata:
        """Return what the model says of itself; a package knows who made it."""
        if self._metadata is not None:
            return self._metadata
        manifest = self._first.manifest
        return ModelMetadata(producer_name=manifest.producer, graph_name=manifest.source)

    def get_providers(self) -> list[str]:
        """Return the names of the providers that were asked for."""
        return self._providers

    def get_session_options(self) -> SessionOptions:
        """Return the options of the session."""
        return self._options

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, ArrayLike],
        run_options: RunOptions | None = None,
    ) -> list[NDArray[Any]]:
        """Return the outputs of some names, all of them without any, given inputs by name.

        Raises ValueError for inputs that lack, and InvalidArgument for other ones.
        """
        results = self._compute(input_feed, {}, run_options)
        return [results[name] for name in self._named(output_names)]

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, ArrayLike],
        callback: Callable[[list[NDArray[Any]], Any, str], None],
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """Run in another thread; call back with the results, the data, and what went wrong."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(thread_name_prefix="trivium-inference")

        def work() -> None:
            try:
                results, fault = self.run(output_names, input_feed, run_options), ""
            except Exception as error:
                results, fault = list[NDArray[Any]](), str(error)
            callback(results, user_data, fault)

        self._threads.submit(work)

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, OrtValue],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        """Run from values to values."""
        feeds = {name: value.numpy() for name, value in input_dict_ort_values.items()}
        return [OrtValue(array) for array in self.run(output_names, feeds, run_options)]

    def io_binding(self) -> IOBinding:
        """Return what arrays can be bound by."""
        return IOBinding(
            [port.name for port in self._inputs], [port.name for port in self._outputs]
        )

    def run_with_iobinding(
        self, iobinding: IOBinding, run_options: RunOptions | None = None
    ) -> None:
        """Run with bound arrays; those of outputs are written in place."""
        given = {name: array for name, array in iobinding.outputs.items() if array is not None}
        iobinding.finish(self._compute(iobinding.feeds, given, run_options))

    def _compute(
        self,
        feeds: Mapping[str, ArrayLike],
        outputs: Mapping[str, NDArray[Any]],
        options: RunOptions | None,
    ) -> dict[str, NDArray[Any]]:
        if options is not None:
            options.check()
        names = [each.name for each in self._inputs]
        if missing := [name for name in names if name not in feeds]:
            raise ValueError(
                f"Required inputs ({missing}) are missing from input feed ({[*feeds]})."
            )
        with self._session() as session, running():
            return session.run(feeds, outputs)

    @contextmanager
    def _session(self) -> Generator[Session]:
        """Lend a session that no other thread has; there are as many as run at once."""
        try:
            session = self._idle.pop()
        except IndexError:
            session = self._first.clone()
        try:
            yield session
        finally:
            self._idle.append(session)

    def _named(self, names: Sequence[str] | None) -> Sequence[str]:
        known = [each.name for each in self._outputs]
        if not names:
            return known
        if unknown := [name for name in names if name not in known]:
            raise InvalidArgument(
                f"Invalid output name: '{unknown[0]}', there are: {', '.join(known)}"
            )
        return names


def _is_package(source: str | os.PathLike[str] | bytes) -> bool:
    if isinstance(source, bytes):
        return source.startswith(_ARCHIVE)
    return Path(source).suffix == SUFFIX


def _metadata_of(source: str | os.PathLike[str] | bytes) -> ModelMetadata:
    """Return what a model of ONNX says of itself."""
    from ...compiler.frontends.onnx.model import open_model

    with open_model(source) as (model, _):
        return ModelMetadata(
            producer_name=model.producer_name,
            graph_name=model.graph.name,
            domain=model.domain,
            description=model.doc_string,
            graph_description=model.graph.doc_string,
            version=model.model_version if model.HasField("model_version") else _NO_VERSION,
            custom_metadata_map={each.key: each.value for each in model.metadata_props},
        )
