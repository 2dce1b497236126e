/* Run a package: a session has an arena, a job for each step, and state. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct trivium_session {
    trivium_package *package;
    const list *steps; /* of step */
    int64_t **jobs;    /* one for each step */
    void **bases;      /* where the memory of each base is, as native code finds it */
    mapping arena;
    mapping state; /* of inputs that sessions hold, and of outputs that become them */
    mapping own; /* what threads but the first have for themselves */
    unsigned threads;
    atomic_flag running;
};

static void free_session(trivium_session *session) {
    for (size_t i = 0; session->jobs && i < session->steps->count; i++) {
        if (session->jobs[i] && session->package->pool) /* a thread may be late */
            leave_pool(session->package->pool, session->jobs[i]);
        free(session->jobs[i]);
    }
    unmap_memory(&session->arena);
    unmap_memory(&session->state);
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

static uint64_t aligned(int64_t size) {
    return ((uint64_t)size + 63) & ~UINT64_C(63);
}

/* Give the state of a session memory: that of each port that it holds, in order. */
static status bind_state(trivium_session *session, trivium_error *error) {
    const manifest *manifest = &session->package->manifest;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t used = 0;
        for (size_t i = 0; i < manifest->inputs.count + manifest->outputs.count; i++) {
            const port *port = i < manifest->inputs.count
                                   ? AT(manifest->inputs, struct port, i)
                                   : AT(manifest->outputs, struct port, i - manifest->inputs.count);
            if (!port->held || port->in_place)
                continue;
            if (pass)
                session->bases[FIRST_PORT + i] = (char *)session->state.data + used;
            used += aligned(tensor_bytes(&port->shape, port->dtype));
        }
        if (!pass)
            TRY(map_memory(&session->state, used, "its state", error));
    }
    return TRIVIUM_OK;
}

/* Let state begin with its initial values, or with zeros. */
static void reset_state(const trivium_session *session) {
    const manifest *manifest = &session->package->manifest;
    for (size_t i = 0; i < manifest->carried.count; i++) {
        const carried *pair = AT(manifest->carried, carried, i);
        const port *input = AT(manifest->inputs, port, pair->input_number);
        size_t size = (size_t)tensor_bytes(&input->shape, input->dtype);
        void *to = session->bases[FIRST_PORT + pair->input_number];
        if (!size || pair->is_unbound)
            continue;
        if (pair->initial)
            memcpy(to, session->package->state + *pair->initial, size);
        else
            memset(to, 0, size);
    }
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
    TRY(bind_state(session, error));
    reset_state(session);
    for (size_t i = 0; i < session->steps->count; i++) {
        session->jobs[i] = make_job(session, AT(*session->steps, step, i));
        if (!session->jobs[i])
            return SYSTEM("the system has no memory for a session");
    }
    return session->threads > 1 ? grow_pool(package->pool, session->threads, error) : TRIVIUM_OK;
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
            submit_to_pool(session->package->pool, job);
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
    size_t input_count = package->input_count;
    for (size_t i = 0; i < package->output_count; i++) {
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
    if ((package->input_count && !inputs) || (package->output_count && !outputs))
        return ARGUMENT("inputs or outputs is NULL");
    for (size_t i = 0; i < package->input_count; i++)
        TRY(check_array(&package->inputs[i], inputs[i], "input", error));
    for (size_t i = 0; i < package->output_count; i++)
        TRY(check_array(&package->outputs[i], outputs[i], "output", error));
    return check_apart(package, inputs, outputs, error);
}

/* Bind the arrays of a run to the bases of ports that the session does not hold. */
static void bind_arrays(const trivium_session *session, const void *const inputs[],
                        void *const outputs[]) {
    const manifest *manifest = &session->package->manifest;
    void **base = session->bases + FIRST_PORT;
    for (size_t i = 0; i < manifest->inputs.count; i++, base++)
        if (!AT(manifest->inputs, port, i)->held)
            *base = (void *)(uintptr_t)*inputs++;
    for (size_t i = 0; i < manifest->outputs.count; i++, base++)
        if (!AT(manifest->outputs, port, i)->held)
            *base = *outputs++;
}

/* Copy outputs that no step writes, because they are elsewhere: constants, inputs, others. */
static void copy_outputs(const trivium_session *session) {
    const manifest *manifest = &session->package->manifest;
    size_t base = FIRST_PORT + manifest->inputs.count;
    for (size_t i = 0; i < manifest->outputs.count; i++, base++) {
        const port *port = AT(manifest->outputs, struct port, i);
        const buffer *buffer = AT(manifest->buffers, struct buffer, port->buffer);
        int64_t size = buffer_bytes(buffer);
        if (buffer->base != (int64_t)base && size && !port->in_place)
            memcpy(session->bases[base], (char *)session->bases[buffer->base] + buffer->offset,
                   (size_t)size);
    }
}

/* Make what a run has written as state the input of the next one. */
static void advance_state(const trivium_session *session) {
    const manifest *manifest = &session->package->manifest;
    for (size_t i = 0; i < manifest->carried.count; i++) {
        const carried *pair = AT(manifest->carried, carried, i);
        const port *output = AT(manifest->outputs, port, pair->output_number);
        if (pair->is_unbound || pair->in_place)
            continue;
        size_t from = output->in_place
                          ? (size_t)AT(manifest->buffers, buffer, output->buffer)->base
                          : FIRST_PORT + manifest->inputs.count + pair->output_number;
        size_t size = (size_t)tensor_bytes(&output->shape, output->dtype);
        if (size)
            memcpy(session->bases[FIRST_PORT + pair->input_number], session->bases[from], size);
    }
}

/* Begin a call that no other may interrupt. */
static status begin(trivium_session *session, trivium_error *error) {
    if (atomic_flag_test_and_set(&session->running))
        return ARGUMENT("the session is running: create one for each thread");
    return TRIVIUM_OK;
}

trivium_status trivium_session_reset(trivium_session *session, trivium_error *given) {
    trivium_error unused, *error = given ? given : &unused;
    *error = (trivium_error){TRIVIUM_OK, ""};
    if (!session)
        return ARGUMENT("session is NULL");
    TRY(begin(session, error));
    reset_state(session);
    atomic_flag_clear(&session->running);
    return TRIVIUM_OK;
}

trivium_status trivium_session_run(trivium_session *session, const void *const inputs[],
                                   void *const outputs[], trivium_error *given) {
    trivium_error unused, *error = given ? given : &unused;
    *error = (trivium_error){TRIVIUM_OK, ""};
    if (!session)
        return ARGUMENT("session is NULL");
    TRY(check_arrays(session->package, inputs, outputs, error));
    TRY(begin(session, error));
    bind_arrays(session, inputs, outputs);
    do_steps(session);
    copy_outputs(session);
    advance_state(session);
    atomic_flag_clear(&session->running);
    return TRIVIUM_OK;
}
