
/* -- threads ----------------------------------------------------------------------------------- */

#ifdef @NAME@_THREADS
static void *work(void *given) {
  struct @name@_worker *const worker = given;
  struct @name@_pool *const pool = worker->pool;
  for (int64_t known = 0;;) {
    for (int spins = 0; spins < 20000; ++spins)
      if (__atomic_load_n(&pool->run, __ATOMIC_ACQUIRE) != known) break;
    pthread_mutex_lock(&pool->lock);
    while ((pool->run == known || !pool->open) && !pool->stop)
      pthread_cond_wait(&pool->wake, &pool->lock);
    known = pool->run;
    const int stop = pool->stop;
    if (!stop) __atomic_add_fetch(&pool->inside, 1, __ATOMIC_ACQ_REL);
    pthread_mutex_unlock(&pool->lock);
    if (stop) return 0;
    program(pool->job, worker->number);
    __atomic_sub_fetch(&pool->inside, 1, __ATOMIC_ACQ_REL);
  }
}

int @name@_pool_start(struct @name@_pool *pool, int threads, void *memory, size_t bytes) {
  if (threads < 1 || threads > @NAME@_MOST_THREADS) return @NAME@_NO_THREADS;
  if (bytes < @NAME@_POOL_BYTES(threads@no_bytes@)) return @NAME@_SMALL_ARENA;
  if ((uintptr_t)memory % ALIGNMENT) return @NAME@_UNALIGNED;
  memset(pool, 0, sizeof *pool);
  memset(memory, 0, (@NAME@_PHASES + 1) * sizeof(struct counter));
  struct job *const job = memory;
  job->threads = threads;
  job->counters = (struct counter *)memory + 1;
  job->own = (char *)(job->counters + @NAME@_PHASES);
  const size_t others = threads > 1 ? (size_t)threads - 1 : 1;
  job->own_bytes = (bytes - @NAME@_POOL_BYTES(1@no_bytes@)) / others / ALIGNMENT * ALIGNMENT;
  job->pool = pool;
  pool->job = job;
  pool->threads = 1;
  if (pthread_mutex_init(&pool->lock, 0)) return @NAME@_NO_THREADS;
  if (pthread_mutex_init(&pool->running, 0)) return @NAME@_NO_THREADS;
  if (pthread_cond_init(&pool->wake, 0)) return @NAME@_NO_THREADS;
  for (; pool->threads < threads; ++pool->threads) {
    struct @name@_worker *const worker = pool->workers + pool->threads - 1;
    worker->pool = pool;
    worker->number = pool->threads;
    if (pthread_create(&worker->id, 0, work, worker)) {
      @name@_pool_stop(pool);
      return @NAME@_NO_THREADS;
    }
  }
  return @NAME@_OK;
}

int @name@_pool_run(struct @name@_pool *pool, @sizes@const void *const inputs[], void *const outputs[],
                    void *arena, size_t arena_bytes, const struct @name@_weights *weights) {
  pthread_mutex_lock(&pool->running);
  const int code = run_with(pool->job, @given_sizes@inputs, outputs, arena, arena_bytes, weights);
  pthread_mutex_unlock(&pool->running);
  return code;
}

void @name@_pool_stop(struct @name@_pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->stop = 1;
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
  for (int n = 0; n < pool->threads - 1; ++n) pthread_join(pool->workers[n].id, 0);
}
#endif
