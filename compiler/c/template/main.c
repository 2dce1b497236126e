/* Run @file@ on files: main [-w WEIGHTS] [-o OUTPUT]... INPUT..., each with the bytes of a tensor.
   Outputs are printed, or written to files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "@file@.h"

static const size_t input_count = @NAME@_INPUTS, input_bytes[] = {@input_bytes@};
static const size_t output_bytes[] = {@output_bytes@};

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: error: %s\n", what, why);
  exit(1);
}

/* Return memory that is aligned to 64 bytes; it is freed when the process ends. */
static void *memory_of(size_t bytes) {
  char *const memory = calloc(bytes + 64, 1);
  if (!memory) fail("memory", "there is not enough");
  return memory + (64 - (uintptr_t)memory % 64);
}

/* Read a file; one of another size than wanted, if that is not 0, is refused. */
static void *read_file(const char *path, size_t wanted, size_t *bytes) {
  FILE *const file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) fail(path, "cannot be read");
  const long size = ftell(file);
  rewind(file);
  if (size < 0 || (wanted && (size_t)size != wanted)) fail(path, "has not the size of the input");
  void *const memory = memory_of((size_t)size);
  if (fread(memory, 1, (size_t)size, file) != (size_t)size) fail(path, "cannot be read");
  fclose(file);
  *bytes = (size_t)size;
  return memory;
}

static void write_file(const char *path, const void *data, size_t bytes) {
  FILE *const file = fopen(path, "wb");
  if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file)) fail(path, "cannot be written");
}

static void print_outputs(void *const outputs[]) {
@prints@}

int main(int argc, char **argv) {
  const char *weight_file = "@weight_file@", *written[@NAME@_OUTPUTS + 1] = {0};
  const void *inputs[@NAME@_INPUTS + 1] = {0};
  void *outputs[@NAME@_OUTPUTS + 1] = {0};
  struct @name@_weights weights;
  size_t size, given = 0, files = 0;
  for (int n = 1; n < argc; ++n) {
    if (!strcmp(argv[n], "-w") && n + 1 < argc) weight_file = argv[++n];
    else if (!strcmp(argv[n], "-o") && n + 1 < argc && files < @NAME@_OUTPUTS) written[files++] = argv[++n];
    else if (given < input_count) inputs[given] = read_file(argv[n], input_bytes[given], &size), ++given;
    else fail(argv[n], "is one file more than the model has inputs");
  }
  if (given < input_count) fail("main", "give a file for each input, see @file@.h");
  void *const file = read_file(weight_file, 0, &size);
  void *const prepared = memory_of(@NAME@_PREPARED_BYTES), *const arena = memory_of(@NAME@_ARENA_BYTES);
  for (size_t n = 0; n < @NAME@_OUTPUTS; ++n) outputs[n] = memory_of(output_bytes[n]);
  int code = @name@_open_weights(&weights, file, size, prepared, @NAME@_PREPARED_BYTES);
  if (code) fail(weight_file, @name@_error(code));
  code = @name@_run(inputs, outputs, arena, @NAME@_ARENA_BYTES, &weights);
  if (code) fail("run", @name@_error(code));
  for (size_t n = 0; n < files; ++n) write_file(written[n], outputs[n], output_bytes[n]);
  if (!files) print_outputs(outputs);
  return 0;
}
