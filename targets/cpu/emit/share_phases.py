"""The function by which threads share a phase, in MLIR's LLVM dialect.

The chunks of a phase are divided into ranges, one for each thread. A thread takes the chunks of its
own range first, so that it finds in its cache what it made in the phase before; then those of other
ranges, until there are none, and waits until all are done. Nobody waits for a thread to arrive,
only for chunks to be done: a thread that the system does not run holds up the others with one chunk
at most.

A phase may have steps, of which each needs those before it. A step has one chunk for each thread,
which is always the same, since weights in its cache are worth more there than an even division. If
the work of a step is not worth two threads, all steps are one chunk.

Counters only ever grow: of n chunks of a range in each step, and s steps, run number r takes the
numbers from (r - 1) s n to r s n. So do the chunks of all ranges that are done; a thread adds those
that it has run once it finds no more, since a cache line takes long from one core to another.
"""

from collections.abc import Sequence

from ....runtime.cpu.thread_pool import Job
from .llvm_lines import load_atomic, number, skip_words, store_atomic

CHUNKS = 4
"""Chunks of a phase per thread; up to twice as many if the phase has no more."""

GRAIN = 8000
"""The least number of instructions in a chunk."""

RANGES = Job.PHASE_WORDS // 2
"""The most ranges of a phase: their counters share a cache line."""

_POLITE_SPINS = 2_000
_LATE = 8_000
"""After so many spins, of which most yield, a chunk is late: after a millisecond or two."""


def share_functions() -> Sequence[str]:
    """Return the declarations and definitions of `share` and what it calls."""
    return ["llvm.func @sched_yield() -> i32", _await(), _share()]


def _await() -> str:
    """Wait until a phase has so many chunks that are done; note in the job if that takes long."""
    return f"""
llvm.func @await(%done: !llvm.ptr, %needed: i64, %job: !llvm.ptr) -> i64 {{
  {number("zero", 0)}
  {number("one", 1)}
  {number("polite", _POLITE_SPINS)}
  {number("late", _LATE)}
  {skip_words("lateness", "%job", Job.LATE)}
  llvm.br ^wait(%zero : i64)
^wait(%spins: i64):
  {load_atomic("complete", "done")}
  %over = llvm.icmp "sge" %complete, %needed : i64
  llvm.cond_br %over, ^end, ^pause
^pause:
  llvm.call_intrinsic "llvm.x86.sse2.pause"() : () -> ()
  %more = llvm.add %spins, %one : i64
  %impolite = llvm.icmp "sgt" %more, %polite : i64
  llvm.cond_br %impolite, ^yield, ^wait(%more : i64)
^yield:
  %result = llvm.call @sched_yield() : () -> i32
  %is_late = llvm.icmp "eq" %more, %late : i64
  llvm.cond_br %is_late, ^note, ^wait(%more : i64)
^note:
  {store_atomic("one", "lateness", "monotonic")}
  llvm.br ^wait(%more : i64)
^end:
  llvm.return %complete : i64
}}"""


def _divide(total: str, parts: str, part: str, begin: str, end: str) -> str:
    """Return the lines that find where a part of a total begins and ends, all parts being even."""
    return f"""%{part}_behind = llvm.add %{part}, %one : i64
  %{part}_scaled = llvm.mul %{part}, %{total} : i64
  %{part}_scaled_behind = llvm.mul %{part}_behind, %{total} : i64
  %{begin} = llvm.udiv %{part}_scaled, %{parts} : i64
  %{end} = llvm.udiv %{part}_scaled_behind, %{parts} : i64"""


def _share() -> str:
    """Run one phase with all threads that call `share`; return when the phase is complete.

    A step has `iterations`, and work for `limit` chunks. `function` runs a range of the iterations
    of all steps.
    """
    return f"""
llvm.func @share(%job: !llvm.ptr, %thread: i64, %run: i64, %number: i64, %iterations: i64,
                 %limit: i64, %given_steps: i64, %function: !llvm.ptr, %arguments: !llvm.ptr,
                 %phase: i64) {{
  {number("zero", 0)}
  {number("one", 1)}
  {number("most_ranges", RANGES)}
  {number("per_thread", CHUNKS)}
  {skip_words("team", "%job", Job.THREADS)}
  %threads = llvm.load %team : !llvm.ptr -> i64
  %all = llvm.mul %iterations, %given_steps : i64
  %alone = llvm.icmp "eq" %threads, %one : i64
  llvm.cond_br %alone, ^alone, ^cut
^alone:
  llvm.call %function(%arguments, %phase, %zero, %all)
      : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
  llvm.return
^cut:
  %undivided = llvm.icmp "eq" %limit, %one : i64
  %steps = llvm.select %undivided, %one, %given_steps : i1, i64
  %has_steps = llvm.icmp "ne" %steps, %one : i64
  %some = llvm.mul %threads, %per_thread : i64
  %most = llvm.add %some, %some : i64
  %few = llvm.icmp "sle" %limit, %most : i64
  %cut = llvm.select %few, %limit, %some : i1, i64
  %teams = llvm.intr.smin(%threads, %most_ranges) : (i64, i64) -> i64
  %parts = llvm.intr.smin(%limit, %teams) : (i64, i64) -> i64
  %chunks = llvm.select %has_steps, %parts, %cut : i1, i64
  %ranges = llvm.select %has_steps, %parts, %teams : i1, i64
  %scaled_thread = llvm.mul %thread, %ranges : i64
  %team_of_thread = llvm.udiv %scaled_thread, %threads : i64
  %own = llvm.select %has_steps, %thread, %team_of_thread : i1, i64
  {skip_words("counters", "%job", Job.COUNTERS)}
  {number("stride", Job.PHASE_WORDS)}
  %apart = llvm.mul %number, %stride : i64
  %taken = llvm.getelementptr %counters[%apart] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  {skip_words("done", "%taken", Job.PHASE_WORDS // 2)}
  %all_steps = llvm.mul %run, %steps : i64
  %first_step = llvm.sub %all_steps, %steps : i64
  %base = llvm.mul %first_step, %chunks : i64
  %all_chunks = llvm.mul %chunks, %steps : i64
  %has_range = llvm.icmp "slt" %own, %ranges : i64
  %begun = llvm.select %has_range, %zero, %steps : i1, i64
  llvm.br ^step(%begun : i64)
^step(%wanted: i64):
  %made_before = llvm.mul %wanted, %chunks : i64
  %needed = llvm.add %base, %made_before : i64
  %complete = llvm.call @await(%done, %needed, %job) : (!llvm.ptr, i64, !llvm.ptr) -> i64
  %made = llvm.sub %complete, %base : i64
  %step = llvm.udiv %made, %chunks : i64
  %goes_on = llvm.icmp "slt" %step, %steps : i64
  llvm.cond_br %goes_on, ^range(%zero, %zero : i64, i64), ^end
^range(%looked: i64, %ran: i64):
  %more_ranges = llvm.icmp "slt" %looked, %ranges : i64
  llvm.cond_br %more_ranges, ^open, ^close
^close:
  %next_step = llvm.add %step, %one : i64
  %idle = llvm.icmp "eq" %ran, %zero : i64
  llvm.cond_br %idle, ^step(%next_step : i64), ^tell
^tell:
  %ignored = llvm.atomicrmw add %done, %ran acq_rel : !llvm.ptr, i64
  llvm.br ^step(%next_step : i64)
^open:
  %turned = llvm.add %own, %looked : i64
  %range = llvm.urem %turned, %ranges : i64
  {_divide("chunks", "ranges", "range", "first_chunk", "chunks_end")}
  %count = llvm.sub %chunks_end, %first_chunk : i64
  %steps_before = llvm.add %first_step, %step : i64
  %taken_before = llvm.mul %steps_before, %count : i64
  %last = llvm.add %taken_before, %count : i64
  %more_looked = llvm.add %looked, %one : i64
  %counter = llvm.getelementptr %taken[%range] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  {load_atomic("first", "counter", "monotonic")}
  llvm.br ^try(%first, %ran : i64, i64)
^try(%next: i64, %ran_before: i64):
  %left = llvm.icmp "slt" %next, %last : i64
  llvm.cond_br %left, ^take, ^range(%more_looked, %ran_before : i64, i64)
^take:
  %after = llvm.add %next, %one : i64
  %got = llvm.cmpxchg %counter, %next, %after acq_rel monotonic : !llvm.ptr, i64
  %seen = llvm.extractvalue %got[0] : !llvm.struct<(i64, i1)>
  %mine = llvm.extractvalue %got[1] : !llvm.struct<(i64, i1)>
  llvm.cond_br %mine, ^do, ^try(%seen, %ran_before : i64, i64)
^do:
  %of_range = llvm.sub %next, %taken_before : i64
  %of_step = llvm.add %first_chunk, %of_range : i64
  %skipped = llvm.mul %step, %chunks : i64
  %chunk = llvm.add %skipped, %of_step : i64
  {_divide("all", "all_chunks", "chunk", "begin", "end")}
  llvm.call %function(%arguments, %phase, %begin, %end)
      : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
  %ran_now = llvm.add %ran_before, %one : i64
  llvm.br ^try(%after, %ran_now : i64, i64)
^end:
  llvm.return
}}"""
