
/* -- the entry of ONNC's runtime --------------------------------------------------------------- */

#define ALIGNED __attribute__((aligned(ALIGNMENT)))
static unsigned char onnc_arena[@NAME@_ARENA_BYTES + 1] ALIGNED;
static unsigned char onnc_prepared[@NAME@_PREPARED_BYTES + 1] ALIGNED;
static unsigned char onnc_outputs[@onnc_output_bytes@ + 1] ALIGNED;

int model_main(const struct ONNC_RUNTIME_inference_context *context) {
  static const size_t input_count = @NAME@_INPUTS;
  static const size_t input_sizes[] = {@input_bytes@}, output_sizes[] = {@output_bytes@};
  const unsigned char *const file = context->input->data;
  struct ONNC_RUNTIME_tensor_offset_table table;
  memcpy(&table, file, sizeof table);
  if (memcmp(table.magic, ONNC_RUNTIME_TENSOR_FILE_MAGIC, 5)) return @NAME@_NO_INPUTS;
  if (table.number_of_tensors != @NAME@_INPUTS) return @NAME@_NO_INPUTS;
  const void *inputs[@NAME@_INPUTS + 1] = {0};
  for (size_t n = 0; n < input_count; ++n) {
    struct ONNC_RUNTIME_tensor_offset place;
    memcpy(&place, file + sizeof table + n * sizeof place, sizeof place);
    if (place.size != input_sizes[n]) return @NAME@_NO_INPUTS;
    inputs[n] = file + place.offset;
  }
  void *outputs[@NAME@_OUTPUTS + 1] = {0};
  unsigned char *next = onnc_outputs;
  for (size_t n = 0; n < @NAME@_OUTPUTS; ++n) {
    outputs[n] = next;
    next += (output_sizes[n] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  struct @name@_weights weights;
  int code = @name@_open_weights(&weights, context->weight->data, @NAME@_WEIGHTS_BYTES,
                                 onnc_prepared, @NAME@_PREPARED_BYTES);
  if (!code)
    code = @name@_run(inputs, outputs, onnc_arena, @NAME@_ARENA_BYTES, &weights);
  for (size_t n = 0; !code && n < @NAME@_OUTPUTS; ++n) {
    struct ONNC_RUNTIME_tensor_view view;
    view.data = outputs[n];
    view.size = output_sizes[n];
    context->completed(context->id, view);
  }
  return code;
}
