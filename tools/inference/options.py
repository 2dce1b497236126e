"""Options of sessions and runs, by the names that onnxruntime has for them."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from .errors import Fail


class GraphOptimizationLevel(IntEnum):
    """Name the levels of optimisation: all, but for two, are our highest one."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(IntEnum):
    """Name the ways to run: a parallel session has the scheduler `parallel`."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


_HINTS = ("session.intra_op.", "session.inter_op.", "session.dynamic_block_base")
"""The begins of entries that say how to be fast, not what to compute."""


@dataclass
class SessionOptions:
    """Hold options by the names of onnxruntime.

    Threads, the level of optimisation, the mode of execution and free dimensions have an effect.
    Those of logging and of memory have none here, and results are the same with any of them.
    What would change what a session does, and cannot be had, is refused as a session is made.
    """

    intra_op_num_threads: int = 0
    inter_op_num_threads: int = 0
    graph_optimization_level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_ALL
    execution_mode: ExecutionMode = ExecutionMode.ORT_SEQUENTIAL
    enable_cpu_mem_arena: bool = True
    enable_mem_pattern: bool = True
    enable_mem_reuse: bool = True
    enable_profiling: bool = False
    profile_file_prefix: str = "onnxruntime_profile_"
    log_severity_level: int = -1
    log_verbosity_level: int = 0
    logid: str = ""
    optimized_model_filepath: str = ""
    use_deterministic_compute: bool = False
    use_per_session_threads: bool = True
    _sizes: dict[str, int] = field(default_factory=dict[str, int])
    _entries: dict[str, str] = field(default_factory=dict[str, str])

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an option; a name that onnxruntime does not have either is an AttributeError."""
        if name not in type(self).__dataclass_fields__:
            raise AttributeError(f"SessionOptions has no '{name}'")
        object.__setattr__(self, name, value)

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Compile for one size of a dimension with a name."""
        self._sizes[name] = size

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Keep an entry, which must be a hint about threads."""
        if not key.startswith(_HINTS):
            raise Fail(f"the session entry '{key}' is not known: leave it out")
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """Return an entry."""
        if key not in self._entries:
            raise Fail(f"there is no session entry '{key}'")
        return self._entries[key]

    def register_custom_ops_library(self, path: str) -> None:
        """Refuse a library of operators: they are rules of a plugin here."""
        raise Fail(f"'{path}' is a library of operators: write a plugin, see docs/extending")

    def compile_options(self) -> dict[str, Any]:
        """Return what a model is compiled with; raises Fail for what cannot be had."""
        level = min(2, int(self.graph_optimization_level))
        return {"opt_level": level, **({"shapes": self._sizes} if self._sizes else {})}

    def load_options(self) -> dict[str, Any]:
        """Return what a session is made with; raises Fail for what cannot be had."""
        if self.enable_profiling:
            raise Fail(
                "enable_profiling has no equivalent: use trivium run --profile, or profile()"
            )
        if self.optimized_model_filepath:
            raise Fail("optimized_model_filepath has no equivalent: use trivium compile or export")
        parallel = self.execution_mode == ExecutionMode.ORT_PARALLEL
        return {
            "threads": self.intra_op_num_threads or None,
            "scheduler": "parallel" if parallel else None,
        }


@dataclass
class RunOptions:
    """Hold options of a run by the names of onnxruntime; those of logging have no effect."""

    log_severity_level: int = 2
    log_verbosity_level: int = 0
    logid: str = ""
    terminate: bool = False
    only_execute_path_to_fetches: bool = False

    def check(self) -> None:
        """Raise Fail where the run is to end before it begins."""
        if self.terminate:
            raise Fail("the run was told to terminate")
