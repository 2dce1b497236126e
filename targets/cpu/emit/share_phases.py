"""The functions by which threads share a phase, in MLIR's LLVM dialect.

In `share`, threads take chunks of a phase until there are none, then wait until all are done.
Nobody waits for a thread to arrive, only for chunks to be done, so a thread that the system does
not run holds up the others with one chunk at most. The counters of a phase only ever grow: of a
phase with n chunks, run number r of the program takes and completes the numbers from (r - 1) n to
r n.

In `share_steps`, threads share the steps of a phase, and each has the same part of every step,
whose weights stay in its cache. It takes the parts of others only if they have not begun when it is
done with its own. Each part has a counter of the steps in which it was taken.
"""

from collections.abc import Sequence

from ....runtime.cpu.thread_pool import Job
from .llvm_lines import load_atomic, number, skip_words, store_atomic

CHUNKS = 4
"""Chunks of a phase per thread; up to twice as many if the phase has no more."""

GRAIN = 8000
"""The least number of instructions in a chunk."""

PARTS = Job.PHASE_WORDS // 2
"""The most parts of a step: their counters share a cache line."""

_POLITE_SPINS = 2_000
_LATE = 8_000
"""After so many spins, of which most yield, a chunk is late: after a millisecond or two."""


def share_functions() -> Sequence[str]:
    """Return the declarations and definitions of `share` and what it calls."""
    return ["llvm.func @sched_yield() -> i32", _await(), _share_steps(), _share()]


def _await() -> str:
    """Wait until a phase has so many chunks that are done; note in the job if that takes long."""
    return f"""
llvm.func @await(%done: !llvm.ptr, %needed: i64, %job: !llvm.ptr) {{
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
  llvm.return
}}"""


_PLACES = f"""{skip_words("counters", "%job", Job.COUNTERS)}
  {number("stride", Job.PHASE_WORDS)}
  %apart = llvm.mul %number, %stride : i64
  %taken = llvm.getelementptr %counters[%apart] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  {skip_words("done", "%taken", Job.PHASE_WORDS // 2)}"""
"""The lines that find the counters of a phase."""

_ARGUMENTS = """%job: !llvm.ptr, %thread: i64, %run: i64, %number: i64, %iterations: i64,
    %limit: i64, %steps: i64, %function: !llvm.ptr, %arguments: !llvm.ptr, %phase: i64"""


def _share_steps() -> str:
    """Share all steps of a phase, which have at least two parts; return when they are complete."""
    return f"""
llvm.func @share_steps({_ARGUMENTS}) {{
  {number("zero", 0)}
  {number("one", 1)}
  {number("most", PARTS)}
  {skip_words("team", "%job", Job.THREADS)}
  %threads = llvm.load %team : !llvm.ptr -> i64
  %few = llvm.intr.smin(%limit, %threads) : (i64, i64) -> i64
  %parts = llvm.intr.smin(%few, %most) : (i64, i64) -> i64
  {_PLACES}
  %all_steps = llvm.mul %run, %steps : i64
  %first_step = llvm.sub %all_steps, %steps : i64
  %last = llvm.mul %all_steps, %parts : i64
  %base = llvm.mul %first_step, %parts : i64
  %has_part = llvm.icmp "slt" %thread, %parts : i64
  llvm.cond_br %has_part, ^step(%zero : i64), ^end
^step(%wanted: i64):
  %made_before = llvm.mul %wanted, %parts : i64
  %needed = llvm.add %base, %made_before : i64
  llvm.call @await(%done, %needed, %job) : (!llvm.ptr, i64, !llvm.ptr) -> ()
  {load_atomic("complete", "done")}
  %made = llvm.sub %complete, %base : i64
  %step = llvm.udiv %made, %parts : i64
  %goes_on = llvm.icmp "slt" %step, %steps : i64
  llvm.cond_br %goes_on, ^look(%zero : i64), ^end
^look(%tried: i64):
  %left = llvm.icmp "slt" %tried, %parts : i64
  %next_step = llvm.add %step, %one : i64
  llvm.cond_br %left, ^try, ^step(%next_step : i64)
^try:
  %turned = llvm.add %thread, %tried : i64
  %part = llvm.urem %turned, %parts : i64
  %more_tried = llvm.add %tried, %one : i64
  %counter = llvm.getelementptr %taken[%part] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %free = llvm.add %first_step, %step : i64
  {load_atomic("seen", "counter", "monotonic")}
  %is_free = llvm.icmp "eq" %seen, %free : i64
  llvm.cond_br %is_free, ^take, ^look(%more_tried : i64)
^take:
  %used = llvm.add %free, %one : i64
  %got = llvm.cmpxchg %counter, %free, %used acq_rel monotonic : !llvm.ptr, i64
  %mine = llvm.extractvalue %got[1] : !llvm.struct<(i64, i1)>
  llvm.cond_br %mine, ^do, ^look(%more_tried : i64)
^do:
  %skipped = llvm.mul %step, %iterations : i64
  %following = llvm.add %part, %one : i64
  %scaled = llvm.mul %part, %iterations : i64
  %scaled_end = llvm.mul %following, %iterations : i64
  %begin_of_step = llvm.udiv %scaled, %parts : i64
  %end_of_step = llvm.udiv %scaled_end, %parts : i64
  %begin = llvm.add %skipped, %begin_of_step : i64
  %end = llvm.add %skipped, %end_of_step : i64
  llvm.call %function(%arguments, %phase, %begin, %end)
      : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
  %ignored = llvm.atomicrmw add %done, %one acq_rel : !llvm.ptr, i64
  llvm.br ^look(%more_tried : i64)
^end:
  llvm.call @await(%done, %last, %job) : (!llvm.ptr, i64, !llvm.ptr) -> ()
  llvm.return
}}"""


def _share() -> str:
    """Run one phase with all threads that call `share`; return when the phase is complete.

    A step has `iterations` and at most `limit` chunks. If that is one, all steps are. `function`
    runs a range of the iterations of all steps.
    """
    return f"""
llvm.func @share({_ARGUMENTS}) {{
  {number("zero", 0)}
  {number("one", 1)}
  {number("per_thread", CHUNKS)}
  {skip_words("team", "%job", Job.THREADS)}
  %threads = llvm.load %team : !llvm.ptr -> i64
  %all = llvm.mul %iterations, %steps : i64
  %alone = llvm.icmp "eq" %threads, %one : i64
  llvm.cond_br %alone, ^alone, ^look
^alone:
  llvm.call %function(%arguments, %phase, %zero, %all)
      : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
  llvm.return
^look:
  %has_steps = llvm.icmp "ne" %steps, %one : i64
  %may_cut = llvm.icmp "ne" %limit, %one : i64
  %cuts_steps = llvm.and %has_steps, %may_cut : i1
  llvm.cond_br %cuts_steps, ^steps, ^cut
^steps:
  llvm.call @share_steps(%job, %thread, %run, %number, %iterations, %limit, %steps, %function,
                         %arguments, %phase)
      : (!llvm.ptr, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
^cut:
  %some = llvm.mul %threads, %per_thread : i64
  %most = llvm.add %some, %some : i64
  %few = llvm.icmp "sle" %limit, %most : i64
  %chunks = llvm.select %few, %limit, %some : i1, i64
  %last = llvm.mul %run, %chunks : i64
  %base = llvm.sub %last, %chunks : i64
  {_PLACES}
  {load_atomic("first", "taken", "monotonic")}
  llvm.br ^try(%first : i64)
^try(%next: i64):
  %left = llvm.icmp "slt" %next, %last : i64
  llvm.cond_br %left, ^take, ^end
^take:
  %after = llvm.add %next, %one : i64
  %got = llvm.cmpxchg %taken, %next, %after acq_rel monotonic : !llvm.ptr, i64
  %seen = llvm.extractvalue %got[0] : !llvm.struct<(i64, i1)>
  %mine = llvm.extractvalue %got[1] : !llvm.struct<(i64, i1)>
  llvm.cond_br %mine, ^do, ^try(%seen : i64)
^do:
  %chunk = llvm.sub %next, %base : i64
  %following = llvm.add %chunk, %one : i64
  %scaled = llvm.mul %chunk, %all : i64
  %scaled_end = llvm.mul %following, %all : i64
  %begin = llvm.udiv %scaled, %chunks : i64
  %end = llvm.udiv %scaled_end, %chunks : i64
  llvm.call %function(%arguments, %phase, %begin, %end)
      : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
  %ignored = llvm.atomicrmw add %done, %one acq_rel : !llvm.ptr, i64
  llvm.br ^try(%after : i64)
^end:
  llvm.call @await(%done, %last, %job) : (!llvm.ptr, i64, !llvm.ptr) -> ()
  llvm.return
}}"""
