/* How many bytes tensors take. */
#include "internal.h"

#include <string.h>

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
