/* Run @file@ on files: main@client_usage@ [-w WEIGHTS] [-o OUTPUT]... INPUT..., each with the bytes of a tensor.
   Outputs are printed, or written to files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "@file@.h"

static const size_t input_count = @NAME@_INPUTS;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: error: %s\n", what, why);
  exit(1);
}

@client_memory@
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

static void print_outputs(void *const outputs[], const size_t output_bytes[]) {
  (void)outputs, (void)output_bytes;
@prints@}
@client_reader@
int main(int argc, char **argv) {
  const char *weight_file = "@weight_file@", *written[@NAME@_OUTPUTS + 1] = {0};
  const char *paths[@NAME@_INPUTS + 1] = {0};
  const void *inputs[@NAME@_INPUTS + 1] = {0};
  void *outputs[@NAME@_OUTPUTS + 1] = {0};
  struct @name@_weights weights;
@client_sizes@  int code = 0;
  size_t size, given = 0, files = 0;
  for (int n = 1; n < argc; ++n) {
    if (!strcmp(argv[n], "-w") && n + 1 < argc) weight_file = argv[++n];
    else if (!strcmp(argv[n], "-o") && n + 1 < argc && files < @NAME@_OUTPUTS) written[files++] = argv[++n];
@client_size@    else if (given < input_count) paths[given++] = argv[n];
    else fail(argv[n], "is one file more than the model has inputs");
  }
  if (given < input_count) fail("main", "give a file for each input, see @file@.h");
@client_find@@client_bytes@  for (size_t n = 0; n < given; ++n) inputs[n] = read_file(paths[n], input_bytes[n], &size);
  void *const file = read_file(weight_file, 0, &size);
  void *const prepared = memory_of(@NAME@_PREPARED_BYTES), *const arena = memory_of(@arena_bytes@);
  for (size_t n = 0; n < @NAME@_OUTPUTS; ++n) outputs[n] = memory_of(output_bytes[n]);
  code = @name@_open_weights(&weights, file, size, prepared, @NAME@_PREPARED_BYTES);
  if (code) fail(weight_file, @name@_error(code));
  code = @name@_run(@client_given@inputs, outputs, arena, @arena_bytes@, &weights);
  if (code) fail("run", @name@_error(code));
  for (size_t n = 0; n < files; ++n) write_file(written[n], outputs[n], output_bytes[n]);
  if (!files) print_outputs(outputs, output_bytes);
  free_memory();
  return 0;
}
