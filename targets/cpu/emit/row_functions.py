"""The functions with which a program makes calls, in MLIR's LLVM dialect.

Both read the tables of one program, and are in its object.
"""

from ....runtime.cpu.calls_one_by_one import HEADER
from ....runtime.cpu.thread_pool import Job
from .llvm_lines import load_word, number, skip_words
from .table_text import BYTE, ELEMENT, NAME, Parts

BIND, CONCURRENT = f"{NAME}_bind", f"{NAME}_concurrent"

JOB, THREAD, ROW, COUNTER, WORDS = range(5)
"""The words that `CONCURRENT` is called with, and how many these are."""


def read_row(parts: Parts) -> str:
    """Return the lines that read the head of `row`, and find what follows its arguments and it."""
    return f"""{load_word("caller", "%row", 1)}
  {load_word("arguments", "%row", 2)}
  {load_word("phases", "%row", 3)}
  {skip_words("first", "%row", HEADER)}
  {number("argument_words", 3)}
  {number("phase_words", parts.inline)}
  %of_arguments = llvm.mul %arguments, %argument_words : i64
  %of_phases = llvm.mul %phases, %phase_words : i64
  %of_call = llvm.add %of_arguments, %of_phases : i64
  %row_behind = llvm.getelementptr %first[%of_call] : (!llvm.ptr, i64) -> !llvm.ptr, i64"""


def bind_row() -> str:
    """Return the lines that bind the pointers of `row`, and find what calls its kernel."""
    return f"""%ranges_of_call = llvm.call @{BIND}(%job, %thread, %table, %row)
      : (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> !llvm.ptr
  %at_calls = llvm.getelementptr %functions[%caller] : {ELEMENT}
  %calls = llvm.load %at_calls : !llvm.ptr -> !llvm.ptr
  llvm.br ^phase(%zero, %counter, %ranges_of_call : i64, i64, !llvm.ptr)"""


def next_phase(parts: Parts) -> str:
    """Return the lines that go on to the phase behind one."""
    return f"""%next_phase = llvm.add %phase, %one : i64
  %next_chunks = llvm.add %chunks, %one : i64
  {skip_words("next_range", "%range", parts.inline)}
  llvm.br ^phase(%next_phase, %next_chunks, %next_range : i64, i64, !llvm.ptr)"""


def bind_function(parts: Parts) -> str:
    """Return the function that fills a table with the kernel of a row and the pointers it takes.

    A thread has a table of its own. The result points behind the arguments of the row.
    """
    return f"""llvm.func @{BIND}(%job: !llvm.ptr, %thread: i64, %table: !llvm.ptr,
                                  %row: !llvm.ptr) -> !llvm.ptr {{
  {number("zero", 0)}
  {number("one", 1)}
  {load_word("bases", "%job", Job.BASES, "!llvm.ptr")}
  {load_word("others", "%job", Job.OWN, "!llvm.ptr")}
  {load_word("bytes", "%job", Job.OWN_BYTES)}
  %before = llvm.sub %thread, %one : i64
  %skipped = llvm.mul %before, %bytes : i64
  %memory = llvm.getelementptr %others[%skipped] : {BYTE}
  %other = llvm.icmp "ne" %thread, %zero : i64
  {parts.tables}
  %functions = llvm.mlir.addressof @{NAME}_functions : !llvm.ptr
  {load_word("kernel", "%row", 0)}
  {load_word("arguments", "%row", 2)}
  {skip_words("first", "%row", HEADER)}
  %at_function = llvm.getelementptr %functions[%kernel] : {ELEMENT}
  %function = llvm.load %at_function : !llvm.ptr -> !llvm.ptr
  llvm.store %function, %table : !llvm.ptr, !llvm.ptr
  llvm.br ^argument(%one, %first : i64, !llvm.ptr)
^argument(%slot: i64, %place: !llvm.ptr):
  %more = llvm.icmp "sle" %slot, %arguments : i64
  llvm.cond_br %more, ^bind, ^end
^bind:
  {load_word("base", "%place", 0)}
  {load_word("offset", "%place", 1)}
  {load_word("own", "%place", 2)}
  {parts.start}
  %shared = llvm.getelementptr %start[%offset] : {BYTE}
  %mine = llvm.getelementptr %memory[%own] : {BYTE}
  %private = llvm.icmp "sge" %own, %zero : i64
  %apart = llvm.and %private, %other : i1
  %pointer = llvm.select %apart, %mine, %shared : i1, !llvm.ptr
  %at_slot = llvm.getelementptr %table[%slot] : {ELEMENT}
  llvm.store %pointer, %at_slot : !llvm.ptr, !llvm.ptr
  %next_slot = llvm.add %slot, %one : i64
  {skip_words("next_place", "%place", 3)}
  llvm.br ^argument(%next_slot, %next_place : i64, !llvm.ptr)
^end:
  llvm.return %place : !llvm.ptr
}}"""


def concurrent_function(arity: int, parts: Parts) -> str:
    """Return the function that makes some of several concurrent calls, each on one thread alone.

    Their numbers from the first of them on are its iterations; it is called with the words `JOB` to
    `COUNTER`: of the thread, and of the first call.
    """
    return f"""llvm.func @{CONCURRENT}(%words_of_thread: !llvm.ptr, %unused: i64,
                                  %begin: i64, %end: i64) {{
  {number("zero", 0)}
  {number("one", 1)}
  {number("size", arity + 1)}
  %table = llvm.alloca %size x !llvm.ptr : (i64) -> !llvm.ptr
  {load_word("job", "%words_of_thread", JOB, "!llvm.ptr")}
  {load_word("thread", "%words_of_thread", THREAD)}
  {load_word("first_row", "%words_of_thread", ROW, "!llvm.ptr")}
  {load_word("first_counter", "%words_of_thread", COUNTER)}
  {parts.tables}
  %functions = llvm.mlir.addressof @{NAME}_functions : !llvm.ptr
  llvm.br ^call(%zero, %first_counter, %first_row : i64, i64, !llvm.ptr)
^call(%number: i64, %counter: i64, %row: !llvm.ptr):
  %left = llvm.icmp "slt" %number, %end : i64
  llvm.cond_br %left, ^look, ^end
^look:
  {read_row(parts)}
  %number_behind = llvm.add %number, %one : i64
  %counter_behind = llvm.add %counter, %phases : i64
  %mine = llvm.icmp "sge" %number, %begin : i64
  llvm.cond_br %mine, ^bind, ^over
^bind:
  {bind_row()}
^phase(%phase: i64, %chunks: i64, %range: !llvm.ptr):
  %work = llvm.icmp "slt" %phase, %phases : i64
  llvm.cond_br %work, ^do, ^over
^do:
  {parts.range}
  %all_iterations = llvm.mul %iterations, %steps : i64
  llvm.call %calls(%table, %phase, %zero, %all_iterations)
      : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
  {next_phase(parts)}
^over:
  llvm.br ^call(%number_behind, %counter_behind, %row_behind : i64, i64, !llvm.ptr)
^end:
  llvm.return
}}"""
