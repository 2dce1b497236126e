/* @title@ */
#ifndef @NAME@_H
#define @NAME@_H
#include <stddef.h>
#include <stdint.h>
#ifdef @NAME@_THREADS
#include <pthread.h>
#endif
#ifdef __cplusplus
extern "C" {
#endif

@ports@
/* Memory that the caller gives, aligned to 64 bytes: for a run, and for what is computed of weights
   when they are opened. */
@arena_macro@#define @NAME@_PREPARED_BYTES @prepared@

/* The file @weight_file@: its size and what it must be, or code and weights do not fit. */
#define @NAME@_WEIGHTS_BYTES @weights_bytes@
#define @NAME@_WEIGHTS_OFFSET @weights_offset@
#define @NAME@_WEIGHTS_ID UINT64_C(0x@id@)

enum {
  @NAME@_OK,
  @NAME@_SMALL_ARENA,
  @NAME@_UNALIGNED,
  @NAME@_SHORT_WEIGHTS,
  @NAME@_NO_WEIGHTS,
  @NAME@_OTHER_WEIGHTS,
  @NAME@_DAMAGED_WEIGHTS,
  @NAME@_SMALL_PREPARED,
  @NAME@_NO_THREADS,
  @NAME@_NO_INPUTS@size_codes@
};

/* Return what a code of the functions below says. */
const char *@name@_error(int code);
@shapes@
struct @name@_weights {
  const void *constants;
  const void *prepared;
};

/* Check the bytes of a weight file, which must stay where they are, and prepare what depends on
   weights alone, in memory of the caller (0 where @NAME@_PREPARED_BYTES is 0). */
int @name@_open_weights(struct @name@_weights *weights, const void *file, size_t bytes,
                        void *prepared, size_t prepared_bytes);

/* Run the model. Runs with arenas of their own may go on at once, on the same weights. Tensors are
   in row-major order; each is aligned to the size of its elements. */
int @name@_run(@sizes@const void *const inputs[], void *const outputs[], void *arena,
               size_t arena_bytes, const struct @name@_weights *weights);

#ifdef @NAME@_THREADS
/* Threads that run the model together, one run at a time. The memory is for all of them. */
#define @NAME@_MOST_THREADS 256
@thread_macro@#define @NAME@_PHASES @phases@
#define @NAME@_POOL_BYTES(threads@thread_bytes_parameter@) \
  (128 * (@NAME@_PHASES + 1) + (size_t)((threads)-1) * @thread_bytes@)

struct @name@_worker {
  struct @name@_pool *pool;
  int number;
  pthread_t id;
};

struct @name@_pool {
  void *job;
  int threads;
  int stop, open, inside;
  int64_t run;
  pthread_mutex_t lock, running;
  pthread_cond_t wake;
  struct @name@_worker workers[@NAME@_MOST_THREADS];
};

int @name@_pool_start(struct @name@_pool *pool, int threads, void *memory, size_t bytes);
int @name@_pool_run(struct @name@_pool *pool, @sizes@const void *const inputs[],
                    void *const outputs[], void *arena, size_t arena_bytes, const struct @name@_weights *weights);
void @name@_pool_stop(struct @name@_pool *pool);
#endif

@onnc_header@#ifdef __cplusplus
}
#endif
#endif
