"""The code by which threads share the work of a program, in MLIR's LLVM dialect.

A program is a function that all threads of a pool run. It calls `share` for each phase: threads
take chunks of the phase until there are none, then wait until all are done. Nobody waits for a
thread to arrive, only for chunks to be done, so a thread that the system does not run holds up the
others with one chunk at most. The counters of a phase only ever grow: of a phase with n chunks, run
number r of the program takes and completes the numbers from (r - 1) n to r n.

`work` is what other threads than the caller's run for ever: they wait for a job, spinning first,
then in a futex. `submit` runs a job with all of them that are free, or alone when another job is
going on. Before a thread touches a job it announces so, and looks whether that is still the job:
memory of a job that nobody announces may be freed.

Threads that sleep are woken on other processors than the caller's (`keep_apart`). Linux may put
them there: it takes an idle processor of a virtual machine for one that its host does not run, and
then they wait for the caller, who waits for nobody. Once awake, they may run anywhere again. Where
another process keeps their processor busy, that is worse: they take chunks and are suspended. So
after a run in which somebody waited long, the system decides alone for the next ones.
"""

from ....runtime.cpu.thread_pool import Job, ThreadPool

CHUNKS = 4
"""Chunks of a phase per thread; up to twice as many if the phase has no more."""

GRAIN = 8000
"""The least number of instructions in a chunk."""

_SPINS = 20_000
_POLITE_SPINS = 2_000
_LATE = 8_000
"""After so many spins, of which most yield, a chunk is late: after a millisecond or two."""

_WARY = 16
"""How many runs after a late one threads are woken where the system wants."""

_FUTEX, _WAIT, _WAKE = 202, 128, 129
_EVERYBODY = 2**31 - 1
_THREAD_ID = 186
_MASK_WORDS = ThreadPool.LINE - ThreadPool.PROCESSORS


def threads_text() -> str:
    """Return the module that defines `share`, `work`, `submit` and `stop`."""
    functions = (_await, _share, _work, _keep_apart, _submit, _stop)
    return "\n".join([_DECLARATIONS, *(text() for text in functions)])


_DECLARATIONS = """
llvm.func @sched_yield() -> i32
llvm.func @memcpy(!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
llvm.func @sched_getcpu() -> i32
llvm.func @sched_getaffinity(i32, i64, !llvm.ptr) -> i32
llvm.func @sched_setaffinity(i32, i64, !llvm.ptr) -> i32
llvm.func @syscall(i64, !llvm.ptr, i64, i64, i64, i64, i64) -> i64
"""


def _word(pointer: str, number: int, name: str) -> str:
    """Return the line that points `name` to a word of 8 bytes."""
    return f"%{name} = llvm.getelementptr %{pointer}[{number}] : (!llvm.ptr) -> !llvm.ptr, i64"


def _load(name: str, pointer: str, order: str = "acquire") -> str:
    order = f"atomic {order} {{alignment = 8 : i64}}"
    return f"%{name} = llvm.load %{pointer} {order} : !llvm.ptr -> i64"


def _store(value: str, pointer: str, order: str = "release") -> str:
    order = f"atomic {order} {{alignment = 8 : i64}}"
    return f"llvm.store %{value}, %{pointer} {order} : i64, !llvm.ptr"


def _number(name: str, value: int) -> str:
    return f"%{name} = llvm.mlir.constant({value} : i64) : i64"


def _wake() -> str:
    return f"""
    {_number("futex", _FUTEX)}
    {_number("wake", _WAKE)}
    {_number("all", _EVERYBODY)}
    %woken = llvm.call @syscall(%futex, %sequence, %wake, %all, %zero, %zero, %zero)
        : (i64, !llvm.ptr, i64, i64, i64, i64, i64) -> i64"""


def _await() -> str:
    """Wait until a phase has so many chunks that are done; note in the job if that takes long."""
    return f"""
llvm.func @await(%done: !llvm.ptr, %needed: i64, %job: !llvm.ptr) {{
  {_number("zero", 0)}
  {_number("one", 1)}
  {_number("polite", _POLITE_SPINS)}
  {_number("late", _LATE)}
  {_word("job", Job.LATE, "lateness")}
  llvm.br ^wait(%zero : i64)
^wait(%spins: i64):
  {_load("complete", "done")}
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
  {_store("one", "lateness", "monotonic")}
  llvm.br ^wait(%more : i64)
^end:
  llvm.return
}}"""


def _share() -> str:
    """Run one phase with all threads that call `share`; return when the phase is complete.

    A step has `iterations` and at most `limit` chunks: those of each step come after all chunks of
    the steps before it. If that is one, all steps are. `function` runs a range of the iterations of
    all steps.
    """
    return f"""
llvm.func @share(%job: !llvm.ptr, %run: i64, %number: i64, %iterations: i64, %limit: i64,
                 %steps: i64, %function: !llvm.ptr, %arguments: !llvm.ptr, %phase: i64) {{
  {_number("zero", 0)}
  {_number("one", 1)}
  {_number("per_thread", CHUNKS)}
  {_word("job", Job.THREADS, "team")}
  %threads = llvm.load %team : !llvm.ptr -> i64
  %all = llvm.mul %iterations, %steps : i64
  %alone = llvm.icmp "eq" %threads, %one : i64
  llvm.cond_br %alone, ^alone, ^cut
^alone:
  llvm.call %function(%arguments, %phase, %zero, %all)
      : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> ()
  llvm.return
^cut:
  %some = llvm.mul %threads, %per_thread : i64
  %most = llvm.add %some, %some : i64
  %few = llvm.icmp "sle" %limit, %most : i64
  %of_step = llvm.select %few, %limit, %some : i1, i64
  %undivided = llvm.icmp "eq" %of_step, %one : i64
  %shared_steps = llvm.select %undivided, %one, %steps : i1, i64
  %chunks = llvm.mul %of_step, %shared_steps : i64
  %last = llvm.mul %run, %chunks : i64
  %base = llvm.sub %last, %chunks : i64
  {_number("stride", Job.PHASE_WORDS)}
  %apart = llvm.mul %number, %stride : i64
  {_word("job", Job.COUNTERS, "counters")}
  %taken = llvm.getelementptr %counters[%apart] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  {_word("taken", Job.PHASE_WORDS // 2, "done")}
  {_load("first", "taken", "monotonic")}
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
  %begun = llvm.urem %chunk, %of_step : i64
  %before = llvm.sub %next, %begun : i64
  llvm.call @await(%done, %before, %job) : (!llvm.ptr, i64, !llvm.ptr) -> ()
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


def _work() -> str:
    """Run jobs of a pool as one of its threads, until it stops."""
    return f"""
llvm.func @work(%pool: !llvm.ptr, %thread: i64) {{
  {_number("zero", 0)}
  {_number("one", 1)}
  {_number("minus_one", -1)}
  {_number("spins", _SPINS)}
  {_number("futex", _FUTEX)}
  {_number("sleep", _WAIT)}
  {_word("pool", ThreadPool.SEQUENCE, "sequence")}
  {_word("pool", ThreadPool.JOB, "current")}
  {_word("pool", ThreadPool.SLEEPERS, "sleepers")}
  {_word("pool", ThreadPool.STOP, "stop")}
  {_word("pool", ThreadPool.ANNOUNCED, "announcements")}
  {_number("stride", ThreadPool.LINE)}
  %apart = llvm.mul %thread, %stride : i64
  %announced = llvm.getelementptr %announcements[%apart] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  {_number("who", _THREAD_ID)}
  %id = llvm.call @syscall(%who, %pool, %zero, %zero, %zero, %zero, %zero)
      : (i64, !llvm.ptr, i64, i64, i64, i64, i64) -> i64
  {_word("announced", ThreadPool.ASLEEP, "asleep")}
  {_word("announced", ThreadPool.BARRED, "barred")}
  {_word("announced", ThreadPool.PROCESSORS, "processors")}
  {_number("bytes", 8 * _MASK_WORDS)}
  %self = llvm.mlir.constant(0 : i32) : i32
  llvm.br ^wait(%zero, %zero : i64, i64)
^wait(%known: i64, %spun: i64):
  {_load("stopped", "stop")}
  %ends = llvm.icmp "ne" %stopped, %zero : i64
  llvm.cond_br %ends, ^end, ^look
^look:
  {_load("now", "sequence")}
  %changed = llvm.icmp "ne" %now, %known : i64
  llvm.cond_br %changed, ^announce, ^pause
^pause:
  llvm.call_intrinsic "llvm.x86.sse2.pause"() : () -> ()
  %more = llvm.add %spun, %one : i64
  %tired = llvm.icmp "sgt" %more, %spins : i64
  llvm.cond_br %tired, ^sleep, ^wait(%known, %more : i64, i64)
^sleep:
  {_store("id", "asleep", "seq_cst")}
  %before = llvm.atomicrmw add %sleepers, %one seq_cst : !llvm.ptr, i64
  %slept = llvm.call @syscall(%futex, %sequence, %sleep, %known, %zero, %zero, %zero)
      : (i64, !llvm.ptr, i64, i64, i64, i64, i64) -> i64
  %after = llvm.atomicrmw add %sleepers, %minus_one seq_cst : !llvm.ptr, i64
  {_store("zero", "asleep", "seq_cst")}
  {_load("was_barred", "barred", "seq_cst")}
  %free = llvm.icmp "eq" %was_barred, %zero : i64
  llvm.cond_br %free, ^wait(%known, %zero : i64, i64), ^restore
^restore:
  %bound = llvm.call @sched_setaffinity(%self, %bytes, %processors) : (i32, i64, !llvm.ptr) -> i32
  {_store("zero", "barred", "seq_cst")}
  llvm.br ^wait(%known, %zero : i64, i64)
^announce:
  {_load("job", "current", "seq_cst")}
  %none = llvm.icmp "eq" %job, %zero : i64
  llvm.cond_br %none, ^wait(%now, %zero : i64, i64), ^check
^check:
  {_store("job", "announced", "seq_cst")}
  {_load("again", "current", "seq_cst")}
  %same = llvm.icmp "eq" %again, %job : i64
  llvm.cond_br %same, ^join, ^leave
^join:
  %memory = llvm.inttoptr %job : i64 to !llvm.ptr
  {_word("memory", Job.THREADS, "team")}
  %threads = llvm.load %team : !llvm.ptr -> i64
  %wanted = llvm.icmp "slt" %thread, %threads : i64
  llvm.cond_br %wanted, ^run, ^leave
^run:
  {_word("memory", Job.RUN, "runs")}
  {_load("run", "runs")}
  {_word("memory", Job.PROGRAM, "code")}
  %program = llvm.load %code : !llvm.ptr -> !llvm.ptr
  llvm.call %program(%memory, %thread, %run) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  llvm.br ^leave
^leave:
  {_store("zero", "announced")}
  llvm.br ^wait(%now, %zero : i64, i64)
^end:
  llvm.return
}}"""


def _keep_apart() -> str:
    """Bar threads of a job that sleep from the caller's processor until they wake.

    What each may use is kept in its line, for it to restore. One that has no other processor, or is
    barred already, stays as it is.
    """
    return f"""
llvm.func @keep_apart(%pool: !llvm.ptr, %job: !llvm.ptr) {{
  {_number("zero", 0)}
  {_number("one", 1)}
  {_number("six", 6)}
  {_number("low", 63)}
  {_number("all", -1)}
  {_number("words", _MASK_WORDS)}
  {_number("bytes", 8 * _MASK_WORDS)}
  {_number("stride", ThreadPool.LINE)}
  {_word("pool", ThreadPool.ANNOUNCED, "lines")}
  {_word("job", Job.THREADS, "team")}
  %threads = llvm.load %team : !llvm.ptr -> i64
  %others = llvm.alloca %words x i64 : (i64) -> !llvm.ptr
  %cpu = llvm.call @sched_getcpu() : () -> i32
  %here = llvm.zext %cpu : i32 to i64
  %which = llvm.lshr %here, %six : i64
  %shift = llvm.and %here, %low : i64
  %bit = llvm.shl %one, %shift : i64
  %rest = llvm.xor %bit, %all : i64
  %place = llvm.getelementptr %others[%which] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %known = llvm.icmp "ult" %which, %words : i64
  llvm.cond_br %known, ^find(%one : i64), ^end
^find(%thread: i64):
  %more = llvm.icmp "slt" %thread, %threads : i64
  llvm.cond_br %more, ^look, ^end
^look:
  %apart = llvm.mul %thread, %stride : i64
  %line = llvm.getelementptr %lines[%apart] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  {_word("line", ThreadPool.ASLEEP, "asleep")}
  {_word("line", ThreadPool.BARRED, "barred")}
  {_word("line", ThreadPool.PROCESSORS, "processors")}
  {_load("id", "asleep", "seq_cst")}
  {_load("before", "barred", "seq_cst")}
  %sleeps = llvm.icmp "ne" %id, %zero : i64
  %unbarred = llvm.icmp "eq" %before, %zero : i64
  %wanted = llvm.and %sleeps, %unbarred : i1
  llvm.cond_br %wanted, ^ask, ^next
^ask:
  %name = llvm.trunc %id : i64 to i32
  %fault = llvm.call @sched_getaffinity(%name, %bytes, %processors) : (i32, i64, !llvm.ptr) -> i32
  %ignored = llvm.call @memcpy(%others, %processors, %bytes)
      : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
  %old = llvm.load %place : !llvm.ptr -> i64
  %new = llvm.and %old, %rest : i64
  llvm.store %new, %place : i64, !llvm.ptr
  %wide = llvm.sext %fault : i32 to i64
  %failed = llvm.icmp "ne" %wide, %zero : i64
  llvm.cond_br %failed, ^end, ^bar
^bar:
  {_store("one", "barred", "seq_cst")}
  %bound = llvm.call @sched_setaffinity(%name, %bytes, %others) : (i32, i64, !llvm.ptr) -> i32
  llvm.br ^next
^next:
  %following = llvm.add %thread, %one : i64
  llvm.br ^find(%following : i64)
^end:
  llvm.return
}}"""


def _submit() -> str:
    """Run a job once: with the threads of a pool, or alone while the pool runs another job."""
    return f"""
llvm.func @submit(%pool: !llvm.ptr, %job: !llvm.ptr) {{
  {_number("zero", 0)}
  {_number("one", 1)}
  {_word("pool", ThreadPool.SEQUENCE, "sequence")}
  {_word("pool", ThreadPool.JOB, "current")}
  {_word("pool", ThreadPool.SLEEPERS, "sleepers")}
  {_word("pool", ThreadPool.BUSY, "busy")}
  {_word("pool", ThreadPool.WARY, "wary")}
  {_word("job", Job.LATE, "lateness")}
  {_word("job", Job.RUN, "runs")}
  {_word("job", Job.PROGRAM, "code")}
  %program = llvm.load %code : !llvm.ptr -> !llvm.ptr
  %previous = llvm.atomicrmw add %runs, %one seq_cst : !llvm.ptr, i64
  %run = llvm.add %previous, %one : i64
  %lock = llvm.cmpxchg %busy, %zero, %one acq_rel monotonic : !llvm.ptr, i64
  %free = llvm.extractvalue %lock[1] : !llvm.struct<(i64, i1)>
  llvm.cond_br %free, ^publish, ^alone
^alone:
  llvm.call %program(%job, %zero, %run) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  llvm.return
^publish:
  %address = llvm.ptrtoint %job : !llvm.ptr to i64
  {_store("address", "current", "seq_cst")}
  %changed = llvm.atomicrmw add %sequence, %one seq_cst : !llvm.ptr, i64
  {_load("asleep", "sleepers", "seq_cst")}
  %any = llvm.icmp "ne" %asleep, %zero : i64
  llvm.cond_br %any, ^wake, ^run
^wake:
  %rest = llvm.load %wary : !llvm.ptr -> i64
  %trusts = llvm.icmp "eq" %rest, %zero : i64
  llvm.cond_br %trusts, ^apart, ^wait
^apart:
  llvm.call @keep_apart(%pool, %job) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.br ^call
^wait:
  %fewer = llvm.sub %rest, %one : i64
  llvm.store %fewer, %wary : i64, !llvm.ptr
  llvm.br ^call
^call:
  {_wake()}
  llvm.br ^run
^run:
  llvm.call %program(%job, %zero, %run) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  {_load("late", "lateness", "monotonic")}
  %was_late = llvm.icmp "ne" %late, %zero : i64
  llvm.cond_br %was_late, ^learn, ^finish
^learn:
  {_store("zero", "lateness", "monotonic")}
  {_number("wary_runs", _WARY)}
  llvm.store %wary_runs, %wary : i64, !llvm.ptr
  llvm.br ^finish
^finish:
  {_store("zero", "current", "seq_cst")}
  {_store("zero", "busy")}
  llvm.return
}}"""


def _stop() -> str:
    """Let all threads of a pool return from `work`."""
    return f"""
llvm.func @stop(%pool: !llvm.ptr) {{
  {_number("zero", 0)}
  {_number("one", 1)}
  {_word("pool", ThreadPool.SEQUENCE, "sequence")}
  {_word("pool", ThreadPool.STOP, "stop")}
  {_store("one", "stop", "seq_cst")}
  %changed = llvm.atomicrmw add %sequence, %one seq_cst : !llvm.ptr, i64
  {_wake()}
  llvm.return
}}"""
