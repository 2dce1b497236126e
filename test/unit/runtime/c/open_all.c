/* Open each package of the standard input, print what became of it, one line each.
 *
 * Each is a size of 8 bytes, then as many bytes. With the argument `run`, those that open are run on
 * inputs of floats that count up; outputs are printed in hexadecimal. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trivium.h"

static void run(trivium_package *package, unsigned threads) {
    trivium_error error;
    trivium_session *session;
    size_t inputs = trivium_input_count(package), outputs = trivium_output_count(package);
    void **arrays = calloc(inputs + outputs + 1, sizeof *arrays);
    for (size_t i = 0; i < inputs + outputs; i++) {
        const trivium_port *port = i < inputs ? trivium_input(package, i)
                                              : trivium_output(package, i - inputs);
        float *array = arrays[i] = calloc(port->size_bytes / 4 + 1, 4);
        for (size_t j = 0; i < inputs && j < port->size_bytes / 4; j++)
            array[j] = (float)j;
    }
    if (trivium_session_create(package, threads, &session, &error) ||
        trivium_session_run(session, (const void *const *)arrays, arrays + inputs, &error)) {
        printf("%d %s\n", error.status, error.text);
        exit(1);
    }
    printf("0 ");
    for (size_t i = 0; i < outputs; i++)
        for (size_t j = 0; j < trivium_output(package, i)->size_bytes; j++)
            printf("%02x", ((unsigned char *)arrays[inputs + i])[j]);
    printf("\n");
    trivium_session_free(session);
    for (size_t i = 0; i < inputs + outputs; i++)
        free(arrays[i]);
    free(arrays);
}

int main(int argc, char **argv) {
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    uint64_t size;
    while (fread(&size, sizeof size, 1, stdin)) {
        trivium_error error;
        trivium_package *package;
        void *data = malloc(size); /* as large as it is: what reads further is caught */
        if (fread(data, 1, size, stdin) != size)
            return 3;
        trivium_open_memory(data, size, &package, &error);
        if ((error.status == TRIVIUM_OK) != (package != NULL))
            return 4;
        if (error.status == TRIVIUM_OK && argc > 1 && !strcmp(argv[1], "run"))
            run(package, threads);
        else
            printf("%d %s\n", error.status, error.text);
        trivium_close(package);
        free(data);
    }
    return 0;
}
