/* Run a package: a session has an arena, and a job for each step. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct trivium_session {
    trivium_package *package;
    const list *steps; /* of step */
    int64_t **jobs;    /* one for each step */
    void **bases;      /* where the memory of each base is, as native code finds it */
    mapping arena;
    mapping own; /* what threads but the first have for themselves */
    unsigned threads;
    atomic_flag running;
};

static void free_session(trivium_session *session) {
    for (size_t i = 0; session->jobs && i < session->steps->count; i++) {
        if (session->jobs[i] && session->package->pool) /* a thread may be late */
            pool_leave(session->package->pool, session->jobs[i]);
        free(session->jobs[i]);
    }
    unmap_memory(&session->arena);
    unmap_memory(&session->own);
    free(session->jobs);
    free(session->bases);
    free(session);
}

static int64_t own_bytes(const trivium_package *package, const step *step) {
    int64_t all = package->manifest.memory.thread_bytes;
    return step->thread_bytes > all ? step->thread_bytes : all;
}

/* Make the job of a step, on a cache line. Without phases, there is nothing to share. */
static int64_t *make_job(const trivium_session *session, const step *step) {
    size_t bytes = (JOB_COUNTERS + (size_t)step->phases * JOB_PHASE_WORDS) * sizeof(int64_t);
    int64_t *job = aligned_alloc(64, bytes);
    if (!job)
        return NULL;
    memset(job, 0, bytes);
    job[JOB_PROGRAM] = (int64_t)step->program;
    job[JOB_BASES] = (int64_t)(uintptr_t)session->bases;
    job[JOB_THREADS] = step->phases ? session->threads : 1;
    job[JOB_OWN] = (int64_t)(uintptr_t)session->own.data;
    job[JOB_OWN_BYTES] = own_bytes(session->package, step);
    return job;
}

static status fill_session(trivium_session *session, trivium_error *error) {
    const trivium_package *package = session->package;
    const manifest *manifest = &package->manifest;
    size_t bases = FIRST_PORT + manifest->inputs.count + manifest->outputs.count;
    int64_t own = 0;
    for (size_t i = 0; i < session->steps->count; i++) {
        int64_t wanted = own_bytes(package, AT(*session->steps, step, i));
        own = wanted > own ? wanted : own;
    }
    TRY(map_memory(&session->arena, (uint64_t)manifest->memory.arena_bytes, "its arena", error));
    TRY(map_memory(&session->own, (uint64_t)own * (session->threads - 1), "its threads", error));
    session->bases = calloc(bases, sizeof *session->bases);
    session->jobs = calloc(session->steps->count + 1, sizeof *session->jobs);
    if (!session->bases || !session->jobs)
        return SYSTEM("the system has no memory for a session");
    session->bases[ARENA] = session->arena.data;
    session->bases[WEIGHTS] = (void *)(uintptr_t)package->weights;
    session->bases[PREPARED] = package->prepared.data;
    for (size_t i = 0; i < session->steps->count; i++) {
        session->jobs[i] = make_job(session, AT(*session->steps, step, i));
        if (!session->jobs[i])
            return SYSTEM("the system has no memory for a session");
    }
    return session->threads > 1 ? pool_grow(package->pool, session->threads, error) : TRIVIUM_OK;
}

static status make_session(trivium_session **made, trivium_package *package, const list *steps,
                           unsigned threads, trivium_error *error) {
    trivium_session *session = calloc(1, sizeof *session);
    if (!session)
        return SYSTEM("the system has no memory for a session");
    session->package = package;
    session->steps = steps;
    session->threads = package->pool ? threads : 1;
    atomic_flag_clear(&session->running);
    status code = fill_session(session, error);
    if (code == TRIVIUM_OK)
        *made = session;
    else
        free_session(session);
    return code;
}

static void do_steps(const trivium_session *session) {
    for (size_t i = 0; i < session->steps->count; i++) {
        int64_t *job = session->jobs[i];
        program_function *program = (program_function *)(uintptr_t)job[JOB_PROGRAM];
        if (job[JOB_THREADS] > 1)
            pool_submit(session->package->pool, job);
        else
            program(job, 0, 0);
    }
}

status run_load_steps(trivium_package *package, trivium_error *error) {
    trivium_session *session;
    if (!package->manifest.load_steps.count)
        return TRIVIUM_OK;
    TRY(make_session(&session, package, &package->manifest.load_steps, 1, error));
    do_steps(session);
    free_session(session);
    return TRIVIUM_OK;
}

trivium_status trivium_session_create(trivium_package *package, unsigned threads,
                                      trivium_session **session, trivium_error *given) {
    trivium_error unused, *error = given ? given : &unused;
    *error = (trivium_error){TRIVIUM_OK, ""};
    if (!session)
        return ARGUMENT("session is NULL");
    *session = NULL;
    if (!package)
        return ARGUMENT("package is NULL");
    if (threads > MOST_THREADS)
        return ARGUMENT("threads is %u, must be from 0 to %d", threads, MOST_THREADS);
    if (!threads)
        threads = (unsigned)package->manifest.threads;
    if (!threads)
        threads = cpu_count();
    TRY(make_session(session, package, &package->manifest.steps, threads, error));
    atomic_fetch_add(&package->references, 1);
    return TRIVIUM_OK;
}

void trivium_session_free(trivium_session *session) {
    if (!session)
        return;
    trivium_package *package = session->package;
    free_session(session);
    release_package(package);
}

static status check_array(const trivium_port *port, const void *array, const char *role,
                          trivium_error *error) {
    size_t alignment = port->item_bytes < 8 ? port->item_bytes : 8;
    if (port->size_bytes && !array)
        return ARGUMENT("%s '%.80s' is NULL", role, port->name);
    if ((uintptr_t)array % alignment)
        return ARGUMENT("%s '%.80s' is at %p, must be aligned to %zu bytes", role, port->name,
                        array, alignment);
    return TRIVIUM_OK;
}

static bool overlap(const void *one, size_t size, const void *two, size_t other) {
    uintptr_t first = (uintptr_t)one, second = (uintptr_t)two;
    return first < second ? second - first < size : other && first - second < other && size;
}

/* Check that outputs share memory with nothing else that is given. */
static status check_apart(const trivium_package *package, const void *const inputs[],
                          void *const outputs[], trivium_error *error) {
    size_t input_count = package->manifest.inputs.count;
    for (size_t i = 0; i < package->manifest.outputs.count; i++) {
        const trivium_port *output = &package->outputs[i];
        for (size_t j = 0; j < input_count + i; j++) {
            bool is_input = j < input_count;
            const trivium_port *other =
                is_input ? &package->inputs[j] : &package->outputs[j - input_count];
            const void *array = is_input ? inputs[j] : outputs[j - input_count];
            if (overlap(outputs[i], output->size_bytes, array, other->size_bytes))
                return ARGUMENT("output '%.80s' shares memory with %s '%.80s'", output->name,
                                is_input ? "input" : "output", other->name);
        }
    }
    return TRIVIUM_OK;
}

static status check_arrays(const trivium_package *package, const void *const inputs[],
                           void *const outputs[], trivium_error *error) {
    const manifest *manifest = &package->manifest;
    if ((manifest->inputs.count && !inputs) || (manifest->outputs.count && !outputs))
        return ARGUMENT("inputs or outputs is NULL");
    for (size_t i = 0; i < manifest->inputs.count; i++)
        TRY(check_array(&package->inputs[i], inputs[i], "input", error));
    for (size_t i = 0; i < manifest->outputs.count; i++)
        TRY(check_array(&package->outputs[i], outputs[i], "output", error));
    return check_apart(package, inputs, outputs, error);
}

/* Copy outputs that no step writes, because they are elsewhere: constants, inputs, others. */
static void copy_outputs(const trivium_session *session) {
    const manifest *manifest = &session->package->manifest;
    size_t base = FIRST_PORT + manifest->inputs.count;
    for (size_t i = 0; i < manifest->outputs.count; i++, base++) {
        int64_t number = AT(manifest->outputs, port, i)->buffer;
        const buffer *buffer = AT(manifest->buffers, struct buffer, number);
        int64_t size = buffer_bytes(buffer);
        if (buffer->base != (int64_t)base && size)
            memcpy(session->bases[base], (char *)session->bases[buffer->base] + buffer->offset,
                   (size_t)size);
    }
}

trivium_status trivium_session_run(trivium_session *session, const void *const inputs[],
                                   void *const outputs[], trivium_error *given) {
    trivium_error unused, *error = given ? given : &unused;
    *error = (trivium_error){TRIVIUM_OK, ""};
    if (!session)
        return ARGUMENT("session is NULL");
    const manifest *manifest = &session->package->manifest;
    TRY(check_arrays(session->package, inputs, outputs, error));
    if (atomic_flag_test_and_set(&session->running))
        return ARGUMENT("the session is running: create one for each thread");
    void **ports = session->bases + FIRST_PORT;
    for (size_t i = 0; i < manifest->inputs.count; i++)
        *ports++ = (void *)(uintptr_t)inputs[i];
    for (size_t i = 0; i < manifest->outputs.count; i++)
        *ports++ = outputs[i];
    do_steps(session);
    copy_outputs(session);
    atomic_flag_clear(&session->running);
    return TRIVIUM_OK;
}
