
/* The sizes of a run. */
struct @name@_sizes {
@fields@};

/* What follows from the sizes of a run: the bytes of its arena, and of the memory of each thread
   but the first; the bytes and the shapes of inputs and outputs. */
struct @name@_shapes {
  size_t arena_bytes, thread_bytes;
  size_t input_bytes[@NAME@_INPUTS + 1], output_bytes[@NAME@_OUTPUTS + 1];
  int64_t input_shapes[@NAME@_INPUTS + 1][@input_axes@];
  int64_t output_shapes[@NAME@_OUTPUTS + 1][@output_axes@];
};

/* Compute what follows from sizes. Returns a code for those at which the model does not run. */
int @name@_find_shapes(const struct @name@_sizes *sizes, struct @name@_shapes *shapes);
