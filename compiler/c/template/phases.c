/* -- phases ------------------------------------------------------------------------------------ */

#define CHUNKS 4 /* of a phase, for each thread */

struct counter {
  int64_t taken;
  char apart[56];
  int64_t done;
  char next[56];
};

/* What the threads of a run share: addresses, numbers that follow from sizes, and the counters of
   phases. Each thread but the first has memory of its own. */
struct job {
  int threads;
  char *const *base;
  const i64 *size;
  char *own;
  size_t own_bytes;
  struct counter *counters;
  struct @name@_pool *pool;
};

typedef void call_range(const struct job *job, char *own, i64 phase, i64 begin, i64 end);

#ifdef @NAME@_THREADS
/* Wait until a phase has so many chunks that are done. */
static void await(const struct counter *counter, i64 needed) {
  for (int spins = 0; __atomic_load_n(&counter->done, __ATOMIC_ACQUIRE) < needed; ++spins)
    if (spins > 2000) sched_yield();
}
#endif

/* Run a phase with all threads that come by; return when it is complete. A step of it has one chunk
   or more, and at most as many as it has iterations, or as its work is worth: `limit`. The chunks
   of a step come after all those of the steps before it; if each has one, all steps are one. */
ATTRIBUTE(unused) static void share(struct job *job, int thread, int number, i64 iterations,
                                    i64 limit, i64 steps, call_range *call, i64 phase) {
  const i64 all = iterations * steps;
#ifdef @NAME@_THREADS
  if (job->threads > 1) {
    const i64 some = (i64)job->threads * CHUNKS, least = limit < iterations ? limit : iterations;
    const i64 most = least > 1 ? least : 1, of_step = most <= 2 * some ? most : some;
    const i64 chunks = of_step > 1 ? of_step * steps : 1;
    struct counter *const counter = job->counters + number;
    char *const own = thread ? job->own + (size_t)(thread - 1) * job->own_bytes : 0;
    i64 chunk;
    while ((chunk = __atomic_fetch_add(&counter->taken, 1, __ATOMIC_ACQ_REL)) < chunks) {
      await(counter, chunk - chunk % of_step);
      call(job, own, phase, chunk * all / chunks, (chunk + 1) * all / chunks);
      __atomic_add_fetch(&counter->done, 1, __ATOMIC_ACQ_REL);
    }
    await(counter, chunks);
    return;
  }
#endif
  (void)thread, (void)number, (void)limit;
  call(job, 0, phase, 0, all);
}
