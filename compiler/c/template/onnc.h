/* -- the entry of ONNC's runtime --------------------------------------------------------------- */

/* A file of tensors in memory: the magic, how many there are, then offset and size of each, from the
   begin of the file, then their data. The weights are those of @file@.weight as it is. */
#define ONNC_RUNTIME_TENSOR_FILE_MAGIC ".TSR"

struct ONNC_RUNTIME_tensor_offset {
  uint64_t offset;
  uint64_t size;
};

struct ONNC_RUNTIME_tensor_offset_table {
  char magic[8];
  uint64_t number_of_tensors;
  struct ONNC_RUNTIME_tensor_offset tensor_offsets[];
};

struct ONNC_RUNTIME_tensor_file {
  void *data;
};

struct ONNC_RUNTIME_tensor_view {
  void *data;
  uint64_t size;
};

/* `completed` gets each output in order; it is valid until the next run. */
struct ONNC_RUNTIME_inference_context {
  struct ONNC_RUNTIME_tensor_file *input;
  struct ONNC_RUNTIME_tensor_file *weight;
  uint64_t id;
  void (*completed)(uint64_t id, struct ONNC_RUNTIME_tensor_view output);
};

/* Run the model once, in memory of its own: one run at a time. Returns a code of @name@_error. */
int model_main(const struct ONNC_RUNTIME_inference_context *context);
