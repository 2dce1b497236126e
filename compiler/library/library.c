/* Sessions of a model whose code and weights are in this library. model.h describes the functions;
 * model_tables.h has the model: its manifest, its programs, and MODEL(name), which gives them the
 * model's name. */
#include "internal.h"
#include "model_tables.h"

#include <pthread.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static bool loaded;
static struct trivium_package package;

static void unload(void) {
    free_pool(package.pool);
    package.pool = NULL;
    unmap_memory(&package.prepared);
    loaded = false;
}

static void set_programs(const list *steps, program_function *const programs[]) {
    for (size_t i = 0; i < steps->count; i++)
        AT(*steps, step, i)->program = (uintptr_t)programs[i];
}

/* Make ready what sessions share, when the first one is created. */
static status load(trivium_error *error) {
    const machine *chosen;
    const pool_code code = {(uintptr_t)submit, (uintptr_t)work, (uintptr_t)stop};
    package.manifest = MANIFEST;
    package.inputs = INPUTS;
    package.outputs = OUTPUTS;
    package.input_count = INPUT_COUNT;
    package.output_count = OUTPUT_COUNT;
    package.state = model_state;
    package.weights = model_weights;
    set_programs(&package.manifest.load_steps, LOAD_PROGRAMS);
    set_programs(&package.manifest.steps, PROGRAMS);
    TRY(choose_machine(&package.manifest.machines, &chosen, error));
    package.machine = chosen->name;
    loaded = true;
    TRY(create_pool(&package.pool, &code, error));
    TRY(map_memory(&package.prepared, (uint64_t)package.manifest.memory.prepared_bytes,
                   "its constants", error));
    return run_load_steps(&package, error);
}

void release_package(trivium_package *released) {
    pthread_mutex_lock(&lock);
    if (atomic_fetch_sub(&released->references, 1) == 1)
        unload();
    pthread_mutex_unlock(&lock);
}

EXPORTED int MODEL(create)(trivium_session **session, unsigned threads, trivium_error *given) {
    trivium_error unused, *error = given ? given : &unused;
    status code = TRIVIUM_OK;
    if (session)
        *session = NULL;
    pthread_mutex_lock(&lock);
    if (!loaded)
        code = load(error);
    if (code == TRIVIUM_OK)
        code = trivium_session_create(&package, threads, session, error);
    if (code != TRIVIUM_OK && loaded && !package.references)
        unload();
    pthread_mutex_unlock(&lock);
    return code;
}

EXPORTED int MODEL(run)(trivium_session *session, const void *const inputs[],
                        void *const outputs[], trivium_error *error) {
    return trivium_session_run(session, inputs, outputs, error);
}

EXPORTED int MODEL(reset)(trivium_session *session, trivium_error *error) {
    return trivium_session_reset(session, error);
}

EXPORTED void MODEL(free)(trivium_session *session) {
    trivium_session_free(session);
}
