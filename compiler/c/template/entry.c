/* -- weights ----------------------------------------------------------------------------------- */

#define ALIGNMENT 64

static uint32_t crc32_of(const unsigned char *data, size_t bytes) {
  uint32_t table[256], crc = 0xFFFFFFFFu;
  for (uint32_t n = 0; n < 256; ++n) {
    uint32_t rest = n;
    for (int bit = 0; bit < 8; ++bit) rest = rest & 1 ? 0xEDB88320u ^ rest >> 1 : rest >> 1;
    table[n] = rest;
  }
  for (size_t n = 0; n < bytes; ++n) crc = table[(crc ^ data[n]) & 255] ^ crc >> 8;
  return ~crc;
}

static uint64_t word_of(const unsigned char *file, int at, int bytes) {
  uint64_t word = 0;
  while (bytes--) word = word << 8 | file[at + bytes];
  return word;
}

int @name@_open_weights(struct @name@_weights *weights, const void *file, size_t bytes,
                        void *prepared, size_t prepared_bytes) {
  const unsigned char *const data = file;
  const size_t needed = @NAME@_PREPARED_BYTES;
  if (bytes < 64) return @NAME@_SHORT_WEIGHTS;
  if (memcmp(data, "TRIVIUMW", 8) || word_of(data, 8, 4) != 1) return @NAME@_NO_WEIGHTS;
  if (word_of(data, 16, 8) != @NAME@_WEIGHTS_ID) return @NAME@_OTHER_WEIGHTS;
  if (bytes < @NAME@_WEIGHTS_BYTES) return @NAME@_SHORT_WEIGHTS;
  if (word_of(data, 24, 8) != @NAME@_WEIGHTS_BYTES || bytes != @NAME@_WEIGHTS_BYTES ||
      word_of(data, 12, 4) != crc32_of(data + 16, bytes - 16))
    return @NAME@_DAMAGED_WEIGHTS;
  if ((uintptr_t)file % ALIGNMENT || (uintptr_t)prepared % ALIGNMENT) return @NAME@_UNALIGNED;
  if (prepared_bytes < needed) return @NAME@_SMALL_PREPARED;
  weights->constants = data + @NAME@_WEIGHTS_OFFSET;
  weights->prepared = prepared;
@prepare@  return @NAME@_OK;
}

/* -- runs -------------------------------------------------------------------------------------- */

/* Let the other threads take part in a run of a job: none does at this time. */
static void begin_run(struct job *job) {
#ifdef @NAME@_THREADS
  struct @name@_pool *const pool = job->pool;
  if (pool) {
    memset(job->counters, 0, @NAME@_PHASES * sizeof(struct counter));
    pthread_mutex_lock(&pool->lock);
    __atomic_add_fetch(&pool->run, 1, __ATOMIC_RELEASE);
    pool->open = 1;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
  }
#endif
  (void)job;
}

/* Wait until no other thread takes part in a run that is complete. */
static void end_run(struct job *job) {
#ifdef @NAME@_THREADS
  struct @name@_pool *const pool = job->pool;
  if (pool) {
    pthread_mutex_lock(&pool->lock);
    pool->open = 0;
    pthread_mutex_unlock(&pool->lock);
    for (int spins = 0; __atomic_load_n(&pool->inside, __ATOMIC_ACQUIRE); ++spins)
      if (spins > 2000) sched_yield();
  }
#endif
  (void)job;
}

static void program(struct job *job, int thread) {
  (void)job, (void)thread;
@run@}

static int run_with(struct job *job, @sizes@const void *const inputs[], void *const outputs[],
                    void *arena, size_t arena_bytes, const struct @name@_weights *weights) {
@plan@  const size_t needed = @arena_bytes@;
  if (arena_bytes < needed) return @NAME@_SMALL_ARENA;
  if ((uintptr_t)arena % ALIGNMENT) return @NAME@_UNALIGNED;
  (void)inputs, (void)outputs;
  char *const base[] = {@bases@};
  job->base = base;
@bind_sizes@  begin_run(job);
  program(job, 0);
  end_run(job);
@copies@  job->base = 0, job->size = 0;
  return @NAME@_OK;
}

int @name@_run(@sizes@const void *const inputs[], void *const outputs[], void *arena,
               size_t arena_bytes, const struct @name@_weights *weights) {
  struct job alone = {0};
  alone.threads = 1;
  return run_with(&alone, @given_sizes@inputs, outputs, arena, arena_bytes, weights);
}

const char *@name@_error(int code) {
  switch (code) {
    case @NAME@_OK: return "no error";
    case @NAME@_SMALL_ARENA: return "the arena has fewer bytes than @arena_name@";
    case @NAME@_UNALIGNED: return "memory is not aligned to 64 bytes";
    case @NAME@_SHORT_WEIGHTS: return "the weight file is shorter than it was written";
    case @NAME@_NO_WEIGHTS: return "the file is not a weight file of this version";
    case @NAME@_OTHER_WEIGHTS: return "the weight file is that of other code";
    case @NAME@_DAMAGED_WEIGHTS: return "the weight file is damaged";
    case @NAME@_SMALL_PREPARED: return "prepared has fewer bytes than @NAME@_PREPARED_BYTES";
    case @NAME@_NO_THREADS: return "threads cannot be started";
    case @NAME@_NO_INPUTS: return "the file of inputs has not the tensors of the model";
@size_errors@    default: return "no code of this library";
  }
}
