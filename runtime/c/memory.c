/* Memory: blocks that are freed together, large mappings, the bytes of tensors. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

typedef union heap_header {
    struct heap_block *before;
    max_align_t aligned;
} heap_header;

void *take_zeroed(heap *heap, size_t count, size_t size) {
    if (size && count > (SIZE_MAX - sizeof(heap_header)) / size)
        return NULL;
    heap_header *made = calloc(1, sizeof(heap_header) + count * size);
    if (!made)
        return NULL;
    made->before = heap->last;
    heap->last = (struct heap_block *)made;
    return made + 1;
}

void free_heap(heap *heap) {
    while (heap->last) {
        heap_header *last = (heap_header *)heap->last;
        heap->last = last->before;
        free(last);
    }
}

status map_memory(mapping *map, uint64_t size, const char *purpose, trivium_error *error) {
    *map = (mapping){0};
    if (!size)
        return TRIVIUM_OK;
    size_t extra = size >= HUGE_PAGE ? HUGE_PAGE : 0;
    void *start = MAP_FAILED;
    if (size <= SIZE_MAX - extra)
        start = mmap(NULL, (size_t)size + extra, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return SYSTEM("the package needs %llu bytes for %s, the system has less",
                      (unsigned long long)size, purpose);
    uintptr_t at = (uintptr_t)start;
    if (extra)
        at = (at + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    *map = (mapping){(void *)at, start, (size_t)size + extra};
#ifdef MADV_HUGEPAGE
    if (extra) /* a kernel without huge pages is merely slower */
        (void)madvise(map->data, (size_t)size, MADV_HUGEPAGE);
#endif
    return TRIVIUM_OK;
}

void unmap_memory(mapping *map) {
    if (map->start)
        munmap(map->start, map->mapped);
    *map = (mapping){0};
}

int64_t item_bytes(const char *dtype) {
    static const struct {
        const char *name;
        int64_t bytes;
    } types[] = {
        {"bool", 1},          {"int8", 1},           {"int16", 2},
        {"int32", 4},         {"int64", 8},          {"uint8", 1},
        {"uint16", 2},        {"uint32", 4},         {"uint64", 8},
        {"float16", 2},       {"float32", 4},        {"float64", 8},
        {"complex64", 8},     {"complex128", 16},    {"bfloat16", 2},
        {"float8_e3m4", 1},   {"float8_e4m3", 1},    {"float8_e4m3b11fnuz", 1},
        {"float8_e4m3fn", 1}, {"float8_e4m3fnuz", 1}, {"float8_e5m2", 1},
        {"float8_e5m2fnuz", 1}, {"float8_e8m0fnu", 1}, {"float4_e2m1fn", 1},
        {"int2", 1},          {"int4", 1},           {"uint2", 1},
        {"uint4", 1},
    };
    for (size_t i = 0; i < COUNT(types); i++)
        if (!strcmp(types[i].name, dtype))
            return types[i].bytes;
    return 0;
}

int64_t tensor_bytes(const list *shape, const char *dtype) {
    int64_t bytes = item_bytes(dtype);
    for (size_t i = 0; i < shape->count; i++)
        bytes *= *AT(*shape, int64_t, i);
    return bytes;
}

int64_t buffer_bytes(const buffer *buffer) {
    return tensor_bytes(&buffer->shape, buffer->dtype);
}
