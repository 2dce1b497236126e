/* -- sizes ------------------------------------------------------------------------------------- */

/* Operations on sizes; `wide` is set where the result has no 64 bits. */
#define SIZES ATTRIBUTE(unused) static i64

SIZES plus(i64 a, i64 b, int *wide) {
  if (b < 0 ? a >= -INT64_MAX - b : a <= INT64_MAX - b) return a + b;
  *wide = 1;
  return 0;
}

SIZES minus(i64 a, i64 b, int *wide) { return plus(a, -b, wide); }

SIZES product(i64 a, i64 b, int *wide) {
  const i64 most = b ? INT64_MAX / (b < 0 ? -b : b) : INT64_MAX;
  if (-most <= a && a <= most) return a * b;
  *wide = 1;
  return 0;
}

SIZES quotient(i64 a, i64 b, int *wide) {
  if (b) return a / b - (a % b && (a < 0) != (b < 0));
  *wide = 1;
  return 0;
}

SIZES larger(i64 a, i64 b) { return a > b ? a : b; }
SIZES smaller(i64 a, i64 b) { return a < b ? a : b; }

static int is_possible(i64 bytes) {
  return bytes >= 0 && (uint64_t)bytes <= SIZE_MAX / 2 && bytes <= INT64_C(1) << 47;
}

/* Compute what follows from the sizes of a run: for the caller, and numbers that programs read. */
static int find_sizes(const struct @name@_sizes *given, struct @name@_shapes *shapes, i64 *size) {
  int wide = 0;
@size_lines@  (void)size;
  return @NAME@_OK;
}

int @name@_find_shapes(const struct @name@_sizes *sizes, struct @name@_shapes *shapes) {
  i64 size[@size_count@];
  return find_sizes(sizes, shapes, size);
}

