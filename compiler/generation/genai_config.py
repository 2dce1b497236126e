"""Read `genai_config.json`, which the builder of onnxruntime-genai writes beside its models."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ...dialects.core.errors import CompileError, Diagnostic
from .description import DecoderDescription

CONFIG = "genai_config.json"

_PORTS = {"input_ids": "ids", "attention_mask": "mask", "position_ids": "positions"}
_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty")
_ONLY_DRAWN = ("temperature", "top_k", "top_p", "min_p")

_NEUTRAL = {"num_beams": 1, "min_length": 0, "no_repeat_ngram_size": 0, "diversity_penalty": 0}
"""Values of `search` that change nothing; others are not supported."""

_WITHOUT_EFFECT = frozenset(
    (
        *("do_sample", "max_length", "early_stopping", "length_penalty", "num_return_sequences"),
        *("past_present_share_buffer", "chunk_size", "batch_size", "random_seed"),
    )
)
"""Keys of `search` that are read elsewhere, are of beams, or are choices of the user."""

_DECODER = frozenset(
    (
        *("session_options", "run_options", "filename", "inputs", "outputs", "head_size"),
        *("hidden_size", "num_attention_heads", "num_hidden_layers", "num_key_value_heads"),
    )
)
_OTHER_PARTS = ("encoder", "vision", "speech", "embedding", "mtp", "dflash2", "dspark")


def config_path(source: Any) -> Path | None:
    """Return the path of the file that describes a model, None for any other source."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    path = os.fsdecode(cast("str | os.PathLike[str]", source))
    if os.path.basename(path) == CONFIG:
        return Path(path)
    found = os.path.join(path, CONFIG)
    return Path(found) if os.path.isfile(found) else None


class GenaiConfig:
    """Hold what a `genai_config.json` says of a decoder.

    Source: the builder of onnxruntime-genai 0.18.
    """

    def __init__(self, path: Path) -> None:
        """Read a file; raise CompileError with all that is wrong, or not supported."""
        self.path = path
        self._faults: list[Diagnostic] = []
        document = _read(path)
        self._model = self._table(document, "model")
        self._decoder = self._table(self._model, "decoder", "model.")
        self._search = self._table(document, "search", missing={})
        self._refuse()
        self.file = path.parent / self._text(self._decoder, "filename", "model.decoder.")
        self.description = DecoderDescription(
            **self._ports(),
            states=self._states(),
            ends=self._ends(),
            sampling=self._sampling(),
            context=self._whole(self._model, "context_length", "model."),
        )
        if self._faults:
            raise CompileError(self._faults)

    def _refuse(self) -> None:
        for name in _OTHER_PARTS:
            if name in self._model:
                self._fault(f"model.{name}", "is there, which is not supported: a decoder is read")
        for name, value in self._decoder.items():
            if name not in _DECODER and not (name == "sliding_window" and _stays(value)):
                self._fault(f"model.decoder.{name}", "is there, which is not supported")
        for name, value in self._search.items():
            if name in _NEUTRAL and value != _NEUTRAL[name]:
                self._fault(f"search.{name}", f"is {value!r}, must be {_NEUTRAL[name]}")
            elif name not in (*_NEUTRAL, *_SAMPLING, *_WITHOUT_EFFECT):
                self._fault(f"search.{name}", "is there, which is not supported")

    def _ports(self) -> dict[str, str]:
        inputs = self._table(self._decoder, "inputs", "model.decoder.", {})
        outputs = self._table(self._decoder, "outputs", "model.decoder.", {})
        found = {field: str(inputs[name]) for name, field in _PORTS.items() if name in inputs}
        if "logits" in outputs:
            found["logits"] = str(outputs["logits"])
        return found

    def _states(self) -> dict[str, str]:
        """Pair `present_key_names` with `past_key_names`, and so on."""
        inputs = self._table(self._decoder, "inputs", "model.decoder.", {})
        outputs = self._table(self._decoder, "outputs", "model.decoder.", {})
        found: dict[str, str] = {}
        for name, pattern in outputs.items():
            if name.startswith("present") and name.endswith("names"):
                past = f"past{name.removeprefix('present')}"
                if past in inputs:
                    found[str(pattern)] = str(inputs[past])
                else:
                    self._fault(f"model.decoder.inputs.{past}", f"is missing, beside '{name}'")
        return found

    def _ends(self) -> tuple[int, ...]:
        found = self._model.get("eos_token_id", [])
        listed = cast("list[Any]", found if isinstance(found, list) else [found])
        if not all(type(each) is int and each >= 0 for each in listed):
            self._fault("model.eos_token_id", f"is {found!r}, must be a token, or several")
            return ()
        return tuple(listed)

    def _sampling(self) -> dict[str, float]:
        """Return how tokens are chosen: the likeliest, unless `do_sample` says otherwise."""
        drawn = self._search.get("do_sample", False)
        found: dict[str, float] = {}
        for name in _SAMPLING:
            value = self._search.get(name)
            if value is None or (name in _ONLY_DRAWN and not drawn):
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                self._fault(f"search.{name}", f"is {value!r}, must be a number")
                continue
            found[name] = int(value) if name == "top_k" else float(value)
        return found

    # -- values -----------------------------------------------------------------------------------

    def _table(
        self, table: Mapping[str, Any], name: str, where: str = "", missing: Any = None
    ) -> dict[str, Any]:
        found = table.get(name, missing)
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
        have = "is missing" if found is None else f"is {found!r}"
        raise CompileError(
            [Diagnostic(str(self.path), f"'{where}{name}' {have}, must be an object")]
        )

    def _text(self, table: Mapping[str, Any], name: str, where: str) -> str:
        found = table.get(name)
        if isinstance(found, str) and found and os.path.basename(found) == found:
            return found
        self._fault(where + name, f"is {found!r}, must be the name of a file beside this one")
        return ""

    def _whole(self, table: Mapping[str, Any], name: str, where: str) -> int | None:
        found = table.get(name)
        if found is None or (type(found) is int and found > 0):
            return found
        self._fault(where + name, f"is {found!r}, must be a whole number from 1 on")
        return None

    def _fault(self, name: str, fault: str) -> None:
        self._faults.append(Diagnostic(str(self.path), f"'{name}' {fault}"))


def _stays(window: Any) -> bool:
    """Return whether a cache with a window keeps all rows where they are."""
    return isinstance(window, dict) and not cast("dict[str, Any]", window).get(
        "slide_key_value_cache", True
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise CompileError([Diagnostic(str(path), error.strerror or str(error))]) from None
    except (ValueError, RecursionError) as error:
        raise CompileError([Diagnostic(str(path), f"is not JSON: {error}")]) from None
    if not isinstance(found, dict):
        raise CompileError([Diagnostic(str(path), "is not a JSON object")])
    return cast("dict[str, Any]", found)
