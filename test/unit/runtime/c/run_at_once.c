/* Run a package in 64 threads at once, with a session each: run_at_once MODEL.trv.
 *
 * Sessions take 1 to 3 threads, and others come and go meanwhile. The package is closed while they
 * run; all outputs must be equal. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trivium.h"

enum { THREADS = 64, RUNS = 10 };

static trivium_package *package;
static const void **inputs;
static void **expected;

static void **new_outputs(void) {
    void **outputs = calloc(trivium_output_count(package), sizeof *outputs);
    for (size_t i = 0; i < trivium_output_count(package); i++)
        outputs[i] = calloc(trivium_output(package, i)->size_bytes, 1);
    return outputs;
}

static void *run(void *argument) {
    trivium_session *session = argument;
    trivium_error error;
    void **outputs = new_outputs();
    for (int i = 0; i < RUNS; i++) {
        trivium_session *other;
        if (trivium_session_create(package, 1 + i % 3, &other, &error)) {
            puts(error.text);
            exit(1);
        }
        trivium_session_free(other);
        if (trivium_session_run(session, inputs, outputs, &error)) {
            puts(error.text);
            exit(1);
        }
        for (size_t j = 0; j < trivium_output_count(package); j++)
            if (memcmp(outputs[j], expected[j], trivium_output(package, j)->size_bytes)) {
                puts("other outputs");
                exit(1);
            }
    }
    for (size_t i = 0; i < trivium_output_count(package); i++)
        free(outputs[i]);
    free(outputs);
    return NULL;
}

int main(int argc, char **argv) {
    trivium_session *sessions[THREADS];
    pthread_t threads[THREADS];
    trivium_error error;
    if (argc != 2 || trivium_open(argv[1], &package, &error))
        return puts(argc == 2 ? error.text : "no package"), 1;
    inputs = calloc(trivium_input_count(package), sizeof *inputs);
    for (size_t i = 0; i < trivium_input_count(package); i++) {
        const trivium_port *port = trivium_input(package, i);
        float *array = calloc(port->size_bytes + 4, 1);
        for (size_t j = 0; j < port->size_bytes / 4; j++)
            array[j] = (float)(j % 17) - 8;
        inputs[i] = array;
    }
    expected = new_outputs();
    for (int i = 0; i < THREADS; i++)
        if (trivium_session_create(package, 1 + i % 3, &sessions[i], &error))
            return puts(error.text), 1;
    if (trivium_session_run(sessions[0], inputs, expected, &error))
        return puts(error.text), 1;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, sessions[i]);
    trivium_close(package);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS - 1; i++)
        trivium_session_free(sessions[i]);
    for (size_t i = 0; i < trivium_output_count(package); i++)
        free(expected[i]);
    for (size_t i = 0; i < trivium_input_count(package); i++)
        free((void *)inputs[i]);
    free(expected);
    free(inputs);
    trivium_session_free(sessions[THREADS - 1]);
    puts("equal");
    return 0;
}
