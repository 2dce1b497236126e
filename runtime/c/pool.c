/* Threads that run programs together: their code is in the package, see
 * targets/cpu/emit/threads.py. Here they are started, counted and stopped. */
#include "internal.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The words of a pool, as in runtime/cpu/thread_pool.py. */
enum { LINE = 8, ANNOUNCED = 5 * LINE, WORDS = ANNOUNCED + MOST_THREADS * LINE };
#define STACK ((size_t)8 << 20)

typedef struct worker {
    pool *pool;
    int64_t number;
    pthread_t thread;
} worker;

struct pool {
    int64_t *words;
    pthread_mutex_t lock; /* of what follows */
    unsigned started;     /* workers 1 to this have a thread */
    worker workers[MOST_THREADS];
    submit_function *submit;
    work_function *work;
    stop_function *stop;
};

static void *work(void *argument) {
    worker *self = argument;
    self->pool->work(self->pool->words, self->number);
    return NULL;
}

status create_pool(pool **made, const pool_code *code, trivium_error *error) {
    pool *pool = calloc(1, sizeof *pool);
    int64_t *words = aligned_alloc(LINE * sizeof *words, WORDS * sizeof *words);
    if (!pool || !words) {
        free(pool);
        free(words);
        return SYSTEM("the system has no memory for threads");
    }
    memset(words, 0, WORDS * sizeof *words);
    pool->words = words;
    pthread_mutex_init(&pool->lock, NULL);
    pool->submit = (submit_function *)code->submit;
    pool->work = (work_function *)code->work;
    pool->stop = (stop_function *)code->stop;
    *made = pool;
    return TRIVIUM_OK;
}

/* Start one thread, which leaves signals to those of the program. */
static int start(worker *worker) {
    pthread_attr_t attributes;
    sigset_t all, before;
    int fault = pthread_attr_init(&attributes);
    if (fault)
        return fault;
    pthread_attr_setstacksize(&attributes, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    fault = pthread_create(&worker->thread, &attributes, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return fault;
}

status grow_pool(pool *pool, unsigned threads, trivium_error *error) {
    int fault = 0;
    pthread_mutex_lock(&pool->lock);
    while (pool->started + 1 < threads && !fault) {
        unsigned number = pool->started + 1;
        worker *worker = &pool->workers[number];
        worker->pool = pool;
        worker->number = number;
        fault = start(worker);
        pool->started += !fault;
    }
    pthread_mutex_unlock(&pool->lock);
    if (fault)
        return SYSTEM("the system starts no %u threads: %s", threads, strerror(fault));
    return TRIVIUM_OK;
}

void submit_to_pool(pool *pool, int64_t *job) {
    pool->submit(pool->words, job);
}

void leave_pool(pool *pool, const int64_t *job) {
    const struct timespec moment = {0, 10000};
    for (unsigned i = 0; i < MOST_THREADS; i++) {
        int64_t *announced = &pool->words[ANNOUNCED + i * LINE];
        while (__atomic_load_n(announced, __ATOMIC_SEQ_CST) == (int64_t)(uintptr_t)job)
            nanosleep(&moment, NULL);
    }
}

void free_pool(pool *pool) {
    if (!pool)
        return;
    if (pool->started)
        pool->stop(pool->words);
    for (unsigned i = 1; i <= pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_mutex_destroy(&pool->lock);
    free(pool->words);
    free(pool);
}

unsigned cpu_count(void) {
    cpu_set_t usable;
    int count = sched_getaffinity(0, sizeof usable, &usable) ? 1 : CPU_COUNT(&usable);
    return count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : (unsigned)count;
}
