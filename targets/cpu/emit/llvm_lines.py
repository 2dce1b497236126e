"""Lines of MLIR's LLVM dialect, of which programs and what threads run are made as text."""


def load_word(name: str, row: str, number: int, type_: str = "i64") -> str:
    """Return the lines that load a word of a row."""
    return (
        f"%at_{name} = llvm.getelementptr {row}[{number}] : (!llvm.ptr) -> !llvm.ptr, i64\n"
        f"  %{name} = llvm.load %at_{name} : !llvm.ptr -> {type_}"
    )


def skip_words(name: str, row: str, words: int) -> str:
    """Return the line that points `name` some words behind a row."""
    return f"%{name} = llvm.getelementptr {row}[{words}] : (!llvm.ptr) -> !llvm.ptr, i64"


def number(name: str, value: int) -> str:
    """Return the line that defines a number."""
    return f"%{name} = llvm.mlir.constant({value} : i64) : i64"


def load_atomic(name: str, pointer: str, order: str = "acquire") -> str:
    """Return the line that loads a word that several threads may use."""
    order = f"atomic {order} {{alignment = 8 : i64}}"
    return f"%{name} = llvm.load %{pointer} {order} : !llvm.ptr -> i64"


def store_atomic(value: str, pointer: str, order: str = "release") -> str:
    """Return the line that stores a word that several threads may use."""
    order = f"atomic {order} {{alignment = 8 : i64}}"
    return f"llvm.store %{value}, %{pointer} {order} : i64, !llvm.ptr"
