"""The code by which threads share the work of a program, in MLIR's LLVM dialect.

A program is a function that all threads of a pool run. It calls `share` for each phase
(`share_phases.py`).

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
from .llvm_lines import load_atomic, number, skip_words, store_atomic
from .share_phases import share_functions

_SPINS = 20_000

_WARY = 16
"""How many runs after a late one threads are woken where the system wants."""

_FUTEX, _WAIT, _WAKE = 202, 128, 129
_EVERYBODY = 2**31 - 1
_THREAD_ID = 186
_MASK_WORDS = ThreadPool.LINE - ThreadPool.PROCESSORS


def threads_text() -> str:
    """Return the module that defines `share`, `work`, `submit` and `stop`."""
    functions = (_work, _keep_apart, _submit, _stop)
    return "\n".join([_DECLARATIONS, *share_functions(), *(text() for text in functions)])


_DECLARATIONS = """
llvm.func @sched_getcpu() -> i32
llvm.func @sched_getaffinity(i32, i64, !llvm.ptr) -> i32
llvm.func @sched_setaffinity(i32, i64, !llvm.ptr) -> i32
llvm.func @syscall(i64, !llvm.ptr, i64, i64, i64, i64, i64) -> i64
"""


def _wake() -> str:
    return f"""
    {number("futex", _FUTEX)}
    {number("wake", _WAKE)}
    {number("all", _EVERYBODY)}
    %woken = llvm.call @syscall(%futex, %sequence, %wake, %all, %zero, %zero, %zero)
        : (i64, !llvm.ptr, i64, i64, i64, i64, i64) -> i64"""


def _work() -> str:
    """Run jobs of a pool as one of its threads, until it stops."""
    return f"""
llvm.func @work(%pool: !llvm.ptr, %thread: i64) {{
  {number("zero", 0)}
  {number("one", 1)}
  {number("minus_one", -1)}
  {number("spins", _SPINS)}
  {number("futex", _FUTEX)}
  {number("sleep", _WAIT)}
  {skip_words("sequence", "%pool", ThreadPool.SEQUENCE)}
  {skip_words("current", "%pool", ThreadPool.JOB)}
  {skip_words("sleepers", "%pool", ThreadPool.SLEEPERS)}
  {skip_words("stop", "%pool", ThreadPool.STOP)}
  {skip_words("announcements", "%pool", ThreadPool.ANNOUNCED)}
  {number("stride", ThreadPool.LINE)}
  %apart = llvm.mul %thread, %stride : i64
  %announced = llvm.getelementptr %announcements[%apart] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  {number("who", _THREAD_ID)}
  %id = llvm.call @syscall(%who, %pool, %zero, %zero, %zero, %zero, %zero)
      : (i64, !llvm.ptr, i64, i64, i64, i64, i64) -> i64
  {skip_words("asleep", "%announced", ThreadPool.ASLEEP)}
  {skip_words("barred", "%announced", ThreadPool.BARRED)}
  {skip_words("processors", "%announced", ThreadPool.PROCESSORS)}
  {number("bytes", 8 * _MASK_WORDS)}
  %self = llvm.mlir.constant(0 : i32) : i32
  llvm.br ^wait(%zero, %zero : i64, i64)
^wait(%known: i64, %spun: i64):
  {load_atomic("stopped", "stop")}
  %ends = llvm.icmp "ne" %stopped, %zero : i64
  llvm.cond_br %ends, ^end, ^look
^look:
  {load_atomic("now", "sequence")}
  %changed = llvm.icmp "ne" %now, %known : i64
  llvm.cond_br %changed, ^announce, ^pause
^pause:
  llvm.call_intrinsic "llvm.x86.sse2.pause"() : () -> ()
  %more = llvm.add %spun, %one : i64
  %tired = llvm.icmp "sgt" %more, %spins : i64
  llvm.cond_br %tired, ^sleep, ^wait(%known, %more : i64, i64)
^sleep:
  {store_atomic("id", "asleep", "seq_cst")}
  %before = llvm.atomicrmw add %sleepers, %one seq_cst : !llvm.ptr, i64
  %slept = llvm.call @syscall(%futex, %sequence, %sleep, %known, %zero, %zero, %zero)
      : (i64, !llvm.ptr, i64, i64, i64, i64, i64) -> i64
  %after = llvm.atomicrmw add %sleepers, %minus_one seq_cst : !llvm.ptr, i64
  {store_atomic("zero", "asleep", "seq_cst")}
  {load_atomic("was_barred", "barred", "seq_cst")}
  %free = llvm.icmp "eq" %was_barred, %zero : i64
  llvm.cond_br %free, ^wait(%known, %zero : i64, i64), ^restore
^restore:
  %bound = llvm.call @sched_setaffinity(%self, %bytes, %processors) : (i32, i64, !llvm.ptr) -> i32
  {store_atomic("zero", "barred", "seq_cst")}
  llvm.br ^wait(%known, %zero : i64, i64)
^announce:
  {load_atomic("job", "current", "seq_cst")}
  %none = llvm.icmp "eq" %job, %zero : i64
  llvm.cond_br %none, ^wait(%now, %zero : i64, i64), ^check
^check:
  {store_atomic("job", "announced", "seq_cst")}
  {load_atomic("again", "current", "seq_cst")}
  %same = llvm.icmp "eq" %again, %job : i64
  llvm.cond_br %same, ^join, ^leave
^join:
  %memory = llvm.inttoptr %job : i64 to !llvm.ptr
  {skip_words("team", "%memory", Job.THREADS)}
  %threads = llvm.load %team : !llvm.ptr -> i64
  %wanted = llvm.icmp "slt" %thread, %threads : i64
  llvm.cond_br %wanted, ^run, ^leave
^run:
  {skip_words("runs", "%memory", Job.RUN)}
  {load_atomic("run", "runs")}
  {skip_words("code", "%memory", Job.PROGRAM)}
  %program = llvm.load %code : !llvm.ptr -> !llvm.ptr
  llvm.call %program(%memory, %thread, %run) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  llvm.br ^leave
^leave:
  {store_atomic("zero", "announced")}
  llvm.br ^wait(%now, %zero : i64, i64)
^end:
  llvm.return
}}"""


def _keep_apart() -> str:
    """Bar threads of a job that sleep from the caller's processor until they wake.

    What each may use is kept in its line, for it to restore. One that has no other processor, or is
    barred already, stays as it is. The line is written here, not by the call: a sanitizer that
    watches calls cannot see that the pool is locked by atomics of this code.
    """
    return f"""
llvm.func @keep_apart(%pool: !llvm.ptr, %job: !llvm.ptr) {{
  {number("zero", 0)}
  {number("one", 1)}
  {number("six", 6)}
  {number("low", 63)}
  {number("all", -1)}
  {number("words", _MASK_WORDS)}
  {number("bytes", 8 * _MASK_WORDS)}
  {number("stride", ThreadPool.LINE)}
  {skip_words("lines", "%pool", ThreadPool.ANNOUNCED)}
  {skip_words("team", "%job", Job.THREADS)}
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
  {skip_words("asleep", "%line", ThreadPool.ASLEEP)}
  {skip_words("barred", "%line", ThreadPool.BARRED)}
  {skip_words("processors", "%line", ThreadPool.PROCESSORS)}
  {load_atomic("id", "asleep", "seq_cst")}
  {load_atomic("before", "barred", "seq_cst")}
  %sleeps = llvm.icmp "ne" %id, %zero : i64
  %unbarred = llvm.icmp "eq" %before, %zero : i64
  %wanted = llvm.and %sleeps, %unbarred : i1
  llvm.cond_br %wanted, ^ask, ^next
^ask:
  %name = llvm.trunc %id : i64 to i32
  %fault = llvm.call @sched_getaffinity(%name, %bytes, %others) : (i32, i64, !llvm.ptr) -> i32
  %usable = llvm.load %others {{alignment = 8 : i64}} : !llvm.ptr -> vector<{_MASK_WORDS}xi64>
  llvm.store %usable, %processors {{alignment = 8 : i64}} : vector<{_MASK_WORDS}xi64>, !llvm.ptr
  %old = llvm.load %place : !llvm.ptr -> i64
  %new = llvm.and %old, %rest : i64
  llvm.store %new, %place : i64, !llvm.ptr
  %wide = llvm.sext %fault : i32 to i64
  %failed = llvm.icmp "ne" %wide, %zero : i64
  llvm.cond_br %failed, ^end, ^bar
^bar:
  {store_atomic("one", "barred", "seq_cst")}
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
  {number("zero", 0)}
  {number("one", 1)}
  {skip_words("sequence", "%pool", ThreadPool.SEQUENCE)}
  {skip_words("current", "%pool", ThreadPool.JOB)}
  {skip_words("sleepers", "%pool", ThreadPool.SLEEPERS)}
  {skip_words("busy", "%pool", ThreadPool.BUSY)}
  {skip_words("wary", "%pool", ThreadPool.WARY)}
  {skip_words("lateness", "%job", Job.LATE)}
  {skip_words("runs", "%job", Job.RUN)}
  {skip_words("code", "%job", Job.PROGRAM)}
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
  {store_atomic("address", "current", "seq_cst")}
  %changed = llvm.atomicrmw add %sequence, %one seq_cst : !llvm.ptr, i64
  {load_atomic("asleep", "sleepers", "seq_cst")}
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
  {load_atomic("late", "lateness", "monotonic")}
  %was_late = llvm.icmp "ne" %late, %zero : i64
  llvm.cond_br %was_late, ^learn, ^finish
^learn:
  {store_atomic("zero", "lateness", "monotonic")}
  {number("wary_runs", _WARY)}
  llvm.store %wary_runs, %wary : i64, !llvm.ptr
  llvm.br ^finish
^finish:
  {store_atomic("zero", "current", "seq_cst")}
  {store_atomic("zero", "busy")}
  llvm.return
}}"""


def _stop() -> str:
    """Let all threads of a pool return from `work`."""
    return f"""
llvm.func @stop(%pool: !llvm.ptr) {{
  {number("zero", 0)}
  {number("one", 1)}
  {skip_words("sequence", "%pool", ThreadPool.SEQUENCE)}
  {skip_words("stop", "%pool", ThreadPool.STOP)}
  {store_atomic("one", "stop", "seq_cst")}
  %changed = llvm.atomicrmw add %sequence, %one seq_cst : !llvm.ptr, i64
  {_wake()}
  llvm.return
}}"""
