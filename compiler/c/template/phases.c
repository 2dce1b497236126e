/* -- phases ------------------------------------------------------------------------------------ */

#define CHUNKS 4 /* of a phase, for each thread */
#define PARTS 8  /* of a step, at most */

/* How many chunks were taken, or steps of each part; and how many of all are done. */
struct counter {
  int64_t taken[PARTS];
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
static void await(const struct counter *counter, i64 needed) {
  for (int spins = 0; __atomic_load_n(&counter->done, __ATOMIC_ACQUIRE) < needed; ++spins)
    if (spins > 2000) sched_yield();
}

/* Share the steps of a phase. Each thread has the same part of every step, whose weights stay in
   its cache; it takes the parts of others only if they have not begun when it is done. */
static void share_steps(struct job *job, int thread, int number, i64 iterations, i64 parts,
                        i64 steps, call_range *call, i64 phase) {
  struct counter *const counter = job->counters + number;
  char *const own = thread ? job->own + (size_t)(thread - 1) * job->own_bytes : 0;
  for (i64 step = 0; step < steps && thread < parts; ++step) {
    await(counter, step * parts);
    step = __atomic_load_n(&counter->done, __ATOMIC_ACQUIRE) / parts;
    for (i64 tried = 0; tried < parts && step < steps; ++tried) {
      const i64 part = (thread + tried) % parts, first = step * iterations;
      i64 free = step;
      if (!__atomic_compare_exchange_n(&counter->taken[part], &free, step + 1, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED))
        continue;
      call(job, own, phase, first + part * iterations / parts,
           first + (part + 1) * iterations / parts);
      __atomic_add_fetch(&counter->done, 1, __ATOMIC_ACQ_REL);
    }
  }
  await(counter, steps * parts);
}
#endif

/* Run a phase with all threads that come by; return when it is complete. A step of it has one chunk
   or more, and at most as many as it has iterations, or as its work is worth: `limit`. If it has
   one, all steps have. */
ATTRIBUTE(unused) static void share(struct job *job, int thread, int number, i64 iterations,
                                    i64 limit, i64 steps, call_range *call, i64 phase) {
  const i64 all = iterations * steps;
#ifdef @NAME@_THREADS
  if (job->threads > 1) {
    const i64 some = (i64)job->threads * CHUNKS, least = limit < iterations ? limit : iterations;
    const i64 most = least > 1 ? least : 1, chunks = most <= 2 * some ? most : some;
    if (steps != 1 && most > 1) {
      const i64 parts = most < job->threads ? most : job->threads;
      share_steps(job, thread, number, iterations, parts < PARTS ? parts : PARTS, steps, call, phase);
      return;
    }
    struct counter *const counter = job->counters + number;
    char *const own = thread ? job->own + (size_t)(thread - 1) * job->own_bytes : 0;
    i64 chunk;
    while ((chunk = __atomic_fetch_add(&counter->taken[0], 1, __ATOMIC_ACQ_REL)) < chunks) {
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
