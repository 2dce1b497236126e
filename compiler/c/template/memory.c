static void *blocks; /* The last block of memory; each begins with the address of the one before. */

/* Return memory that is aligned to 64 bytes, until `free_memory`. */
static void *memory_of(size_t bytes) {
  char *const block = calloc(bytes + 128, 1);
  if (!block) fail("memory", "there is not enough");
  *(void **)(void *)block = blocks;
  blocks = block;
  return block + (128 - (uintptr_t)block % 64);
}

static void free_memory(void) {
  while (blocks) {
    void *const before = *(void **)blocks;
    free(blocks);
    blocks = before;
  }
}
