/* -- phases ------------------------------------------------------------------------------------ */

#define CHUNKS 4 /* of a phase, for each thread */

struct counter {
  int64_t taken;
  char apart[56];
  int64_t done;
  char next[56];
};

/* What the threads of a run share. Each but the first has memory of its own. */
struct job {
  int threads;
  char *const *base;
  char *own;
  struct counter *counters;
  struct @name@_pool *pool;
};

typedef void call_range(char *const *base, char *own, i64 phase, i64 begin, i64 end);

/* Run a phase with all threads that come by; return when it is complete. Counters only grow: run
   number r takes and completes the numbers from (r - 1) * chunks to r * chunks. */
__attribute__((unused)) static void share(struct job *job, int thread, i64 run, int number,
                                          i64 iterations, i64 limit, call_range *call, i64 phase) {
#ifdef @NAME@_THREADS
  if (job->threads > 1) {
    const i64 some = (i64)job->threads * CHUNKS, chunks = limit <= 2 * some ? limit : some;
    const i64 last = run * chunks, first = last - chunks;
    struct counter *const counter = job->counters + number;
    char *const own = thread ? job->own + (size_t)(thread - 1) * @NAME@_THREAD_BYTES : 0;
    int64_t next = __atomic_load_n(&counter->taken, __ATOMIC_RELAXED);
    while (next < last) {
      if (!__atomic_compare_exchange_n(&counter->taken, &next, next + 1, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED))
        continue;
      const i64 chunk = next - first;
      call(job->base, own, phase, chunk * iterations / chunks, (chunk + 1) * iterations / chunks);
      __atomic_add_fetch(&counter->done, 1, __ATOMIC_ACQ_REL);
      ++next;
    }
    for (int spins = 0; __atomic_load_n(&counter->done, __ATOMIC_ACQUIRE) < last; ++spins)
      if (spins > 2000) sched_yield();
    return;
  }
#endif
  (void)thread, (void)run, (void)number, (void)limit;
  call(job->base, 0, phase, 0, iterations);
}
