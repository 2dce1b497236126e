"""The values between which options of a compilation choose."""

FAST, STRICT = "fast", "strict"
MATHS = (FAST, STRICT)

F32, TF32 = "f32", "tf32"
HALVES = {"fp16": "f16", "bf16": "bf16"}
"""The precisions in which values are stored in half of the bytes, and their element types."""

STATE_TYPES = {**HALVES, "int8": "i8"}
"""What states of f32 may be stored in: bytes have a scale for each row."""

PRECISIONS = (F32, TF32, *HALVES)

FLOATS, INTEGERS = "floats", "integers"
QUANTIZED = (FLOATS, INTEGERS)  # what quantised models are computed in

AS_GIVEN, EXACT, BYTES = "model", "exact", "i8"
ACTIVATIONS = (AS_GIVEN, EXACT, BYTES)
"""What activations are rounded to before they are multiplied by weights of few bits."""

EXPORT, PNNX = "export", "pnnx"
CONVERTERS = (EXPORT, PNNX)
"""What reads a torch module: `torch.export`, or the program `pnnx`."""

WINOGRAD_ERROR = 6e-6
"""What a layer may lose by Winograd's method unless the user says otherwise: 4x4 tiles fit."""

LEVELS = (0, 1, 2)
"""The levels of optimisation."""

OBJECT, C = "object", "c"
"""The forms of native code."""
