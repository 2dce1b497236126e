"""What a program writes to: buffers, which are state of a session, and inputs of the user. No MLIR.

A run reads the old value as an input and returns the new one as an output.
"""

from .graph import Port, Program
from .inputs import user_inputs

UPDATE = "user_input_mutation"
BUFFER_KINDS = ("buffer_mutation", "parameter_mutation")
"""The kinds of outputs that are new values."""


def next_name(name: str) -> str:
    """Return the name of the output that is the new value of an input."""
    return f"{name}.next"


def state_inputs(program: Program) -> dict[str, Port]:
    """Return the buffers that a program writes to, by the names of the inputs they become.

    That is the name of the buffer in the module, or in the graph, where an input of the user has
    the first one.
    """
    written = {port.target for port in program.outputs if port.kind in BUFFER_KINDS}
    taken = {*user_inputs(program)}
    return {
        port.value.name if port.target in taken else port.target: port
        for port in program.inputs
        if port.kind in ("buffer", "parameter") and port.target in written
    }
