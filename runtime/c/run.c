/* An example of a program that runs packages: raw files in, raw files out.
 *
 *     run MODEL.trv                             list the inputs and the outputs
 *     run MODEL.trv THREADS INPUT... OUTPUT...  run it once, files in the order of that list
 *
 * A file has the elements of an array in row-major order, as numpy's tofile writes them. */
#include <stdio.h>
#include <stdlib.h>

#include "trivium.h"

static void list_ports(const char *title, size_t count, const trivium_port *first) {
    for (size_t i = 0; i < count; i++) {
        const trivium_port *port = first + i;
        printf("%s %s: %s[", title, port->name, port->dtype);
        for (size_t j = 0; j < port->rank; j++)
            printf("%s%lld", j ? ", " : "", (long long)port->shape[j]);
        printf("], %zu bytes\n", port->size_bytes);
    }
}

/* Allocate an array; read it from a file, or find out that the file has another size. */
static void *read_array(const trivium_port *port, const char *path) {
    void *array = malloc(port->size_bytes + 1);
    FILE *file = fopen(path, "rb");
    if (!file || !array) {
        perror(path);
        exit(1);
    }
    if (fread(array, 1, port->size_bytes + 1, file) != port->size_bytes) {
        fprintf(stderr, "%s: must have %zu bytes for %s\n", path, port->size_bytes, port->name);
        exit(1);
    }
    fclose(file);
    return array;
}

static void write_array(const trivium_port *port, const char *path, const void *array) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(array, 1, port->size_bytes, file) != port->size_bytes || fclose(file)) {
        perror(path);
        exit(1);
    }
}

static void check(trivium_status status, const trivium_error *error) {
    if (status != TRIVIUM_OK) {
        fprintf(stderr, "error %d: %s\n", (int)status, error->text);
        exit(1);
    }
}

int main(int argc, char **argv) {
    trivium_error error;
    trivium_package *package;
    trivium_session *session;
    if (argc < 2) {
        fprintf(stderr, "usage: %s MODEL.trv [THREADS INPUT... OUTPUT...]\n", argv[0]);
        return 2;
    }
    check(trivium_open(argv[1], &package, &error), &error);
    size_t input_count = trivium_input_count(package);
    size_t output_count = trivium_output_count(package);
    if (argc == 2) {
        list_ports("input", input_count, trivium_input(package, 0));
        list_ports("output", output_count, trivium_output(package, 0));
        trivium_close(package);
        return 0;
    }
    if ((size_t)argc != 3 + input_count + output_count) {
        fprintf(stderr, "%s takes %zu files for inputs and %zu for outputs\n", argv[1],
                input_count, output_count);
        return 2;
    }
    char **input_paths = argv + 3, **output_paths = input_paths + input_count;
    const void **inputs = calloc(input_count + 1, sizeof *inputs);
    void **outputs = calloc(output_count + 1, sizeof *outputs);
    if (!inputs || !outputs)
        return perror(argv[0]), 1;
    for (size_t i = 0; i < input_count; i++)
        inputs[i] = read_array(trivium_input(package, i), input_paths[i]);
    for (size_t i = 0; i < output_count; i++)
        if (!(outputs[i] = malloc(trivium_output(package, i)->size_bytes + 1)))
            return perror(argv[0]), 1;
    unsigned threads = (unsigned)strtoul(argv[2], NULL, 10);
    check(trivium_session_create(package, threads, &session, &error), &error);
    check(trivium_session_run(session, inputs, outputs, &error), &error);
    for (size_t i = 0; i < output_count; i++) {
        write_array(trivium_output(package, i), output_paths[i], outputs[i]);
        free(outputs[i]);
    }
    for (size_t i = 0; i < input_count; i++)
        free((void *)inputs[i]);
    free(inputs);
    free(outputs);
    trivium_session_free(session);
    trivium_close(package);
    return 0;
}
