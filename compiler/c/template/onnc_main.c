/* Run @file@ as ONNC does: main [-w WEIGHTS] INPUT..., each with the bytes of a tensor. It reads an
   image, reads weights, calls model_main, and prints the output vector. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "@file@.h"

static const size_t input_count = @NAME@_INPUTS, input_bytes[] = {@input_bytes@};

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: error: %s\n", what, why);
  exit(1);
}

/* Read a file of a size to memory. */
static void read_file(const char *path, void *memory, size_t bytes) {
  FILE *const file = fopen(path, "rb");
  if (!file) fail(path, "cannot be read");
  if (fread(memory, 1, bytes, file) != bytes || fgetc(file) != EOF) fail(path, "has another size");
  fclose(file);
}

@client_memory@
/* Return a file of tensors that are read from files. */
static unsigned char *read_inputs(char **paths) {
  size_t size = (sizeof(struct ONNC_RUNTIME_tensor_offset_table) + 63 +
                 @NAME@_INPUTS * sizeof(struct ONNC_RUNTIME_tensor_offset)) / 64 * 64;
  size_t end = size;
  for (size_t n = 0; n < input_count; ++n) end += (input_bytes[n] + 63) / 64 * 64;
  unsigned char *const data = memory_of(end);
  struct ONNC_RUNTIME_tensor_offset_table *const table = (void *)data;
  strcpy(table->magic, ONNC_RUNTIME_TENSOR_FILE_MAGIC);
  table->number_of_tensors = @NAME@_INPUTS;
  for (size_t n = 0; n < input_count; ++n) {
    table->tensor_offsets[n].offset = size;
    table->tensor_offsets[n].size = input_bytes[n];
    read_file(paths[n], data + size, input_bytes[n]);
    size += (input_bytes[n] + 63) / 64 * 64;
  }
  return data;
}

static void print_output(uint64_t id, struct ONNC_RUNTIME_tensor_view output) {
  static size_t number;
  void *outputs[@NAME@_OUTPUTS + 1] = {0};
  static const size_t output_bytes[] = {@output_bytes@};
  (void)id, (void)output_bytes;
  outputs[number] = output.data;
@prints_numbered@  ++number;
}

int main(int argc, char **argv) {
  const char *weight_file = "@file@.weight";
  if (argc > 2 && !strcmp(argv[1], "-w")) weight_file = argv[2], argc -= 2, argv += 2;
  if (argc != @NAME@_INPUTS + 1) fail("main", "give a file for each input, see @file@.h");
  struct ONNC_RUNTIME_tensor_file input = {read_inputs(argv + 1)};
  struct ONNC_RUNTIME_tensor_file weight = {memory_of(@NAME@_WEIGHTS_BYTES)};
  read_file(weight_file, weight.data, @NAME@_WEIGHTS_BYTES);
  const struct ONNC_RUNTIME_inference_context context = {&input, &weight, 0, print_output};
  const int code = model_main(&context);
  if (code) fail("model_main", @name@_error(code));
  free_memory();
  return 0;
}
