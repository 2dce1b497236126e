/* -- phases ------------------------------------------------------------------------------------ */

#define CHUNKS 4 /* of a phase, for each thread */
#define RANGES 8 /* of a phase, at most */

/* How many chunks of each range of a phase were taken, and how many of all are done. */
struct counter {
  int64_t taken[RANGES];
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
static i64 least(i64 a, i64 b) { return a < b ? a : b; }

/* Wait until a phase has so many chunks that are done; return how many it has. */
static i64 await(const struct counter *counter, i64 needed) {
  i64 done;
  for (int spins = 0; (done = __atomic_load_n(&counter->done, __ATOMIC_ACQUIRE)) < needed; ++spins)
    if (spins > 2000) sched_yield();
  return done;
}

/* Share a phase: take the chunks of an own range, whose data is near, then those of others. Of a
   phase with steps, which need those before them, each has one chunk for a thread. */
static void share_phase(struct job *job, int thread, int number, i64 iterations, i64 limit,
                        i64 steps, call_range *call, i64 phase) {
  struct counter *const counter = job->counters + number;
  char *const own = thread ? job->own + (size_t)(thread - 1) * job->own_bytes : 0;
  const i64 threads = job->threads, some = threads * CHUNKS, teams = least(threads, RANGES);
  const i64 all = iterations * steps, count = limit > 1 ? steps : 1;
  const i64 most = limit <= 2 * some ? limit : some;
  const i64 chunks = count == 1 ? most : least(limit, teams), ranges = count == 1 ? teams : chunks;
  const i64 mine = count == 1 ? thread * ranges / threads : thread;
  for (i64 step = mine < ranges ? 0 : count; step < count; ++step) {
    step = await(counter, step * chunks) / chunks;
    i64 ran = 0;
    for (i64 looked = 0; looked < ranges && step < count; ++looked) {
      const i64 range = (mine + looked) % ranges, first = range * chunks / ranges;
      const i64 size = (range + 1) * chunks / ranges - first;
      i64 next = __atomic_load_n(&counter->taken[range], __ATOMIC_RELAXED);
      while (next < (step + 1) * size) {
        if (!__atomic_compare_exchange_n(&counter->taken[range], &next, next + 1, 0,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
          continue;
        const i64 chunk = step * chunks + first + next - step * size;
        call(job, own, phase, chunk * all / (chunks * count), (chunk + 1) * all / (chunks * count));
        ++next, ++ran;
      }
    }
    if (ran) __atomic_add_fetch(&counter->done, ran, __ATOMIC_ACQ_REL);
  }
  await(counter, count * chunks);
}
#endif

/* Run a phase with all threads that come by; return when it is complete. A step of it has one chunk
   or more, and at most as many as it has iterations, or as its work is worth: `limit`. */
ATTRIBUTE(unused) static void share(struct job *job, int thread, int number, i64 iterations,
                                    i64 limit, i64 steps, call_range *call, i64 phase) {
#ifdef @NAME@_THREADS
  if (job->threads > 1) {
    const i64 most = least(limit, iterations);
    share_phase(job, thread, number, iterations, most > 1 ? most : 1, steps, call, phase);
    return;
  }
#endif
  (void)thread, (void)number, (void)limit;
  call(job, 0, phase, 0, iterations * steps);
}
