/* Check that a manifest is sound, as runtime/checks.py does. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RANK = 64, MOST_PHASES = 1 << 24 };
#define ABSENT (-1)

/* Check a tensor, of which `tensor_bytes` then does not overflow. */
static status check_tensor(const list *shape, const char *dtype, const char *where, size_t number,
                           trivium_error *error) {
    int64_t extent = item_bytes(dtype);
    if (!extent)
        return CORRUPT("manifest: '%s[%zu].dtype' is '%.40s', which libtrivium does not know",
                       where, number, dtype);
    if (shape->count > MOST_RANK)
        return CORRUPT("manifest: '%s[%zu].shape' has %zu dimensions, at most %d", where, number,
                       shape->count, MOST_RANK);
    for (size_t i = 0; i < shape->count; i++) {
        int64_t size = *AT(*shape, int64_t, i);
        if (size < 0)
            return CORRUPT("manifest: '%s[%zu].shape' has a size of %lld, sizes must not be "
                           "negative", where, number, (long long)size);
        /* A zero among huge sizes would hide them. */
        if (size > MOST_BYTES / extent)
            return CORRUPT("manifest: '%s[%zu].shape' is more than any memory holds", where,
                           number);
        extent *= size ? size : 1;
    }
    return TRIVIUM_OK;
}

static status check_range(int64_t value, int64_t least, int64_t most, const char *name,
                          trivium_error *error) {
    if (value < least || value > most)
        return CORRUPT("manifest: '%s' is %lld, must be from %lld to %lld", name,
                       (long long)value, (long long)least, (long long)most);
    return TRIVIUM_OK;
}

/* Return how many bytes a base has. */
static int64_t base_bytes(const manifest *manifest, size_t base) {
    if (base < FIRST_PORT) {
        const int64_t sizes[] = {manifest->memory.arena_bytes, manifest->memory.weight_bytes,
                                 manifest->memory.prepared_bytes};
        return sizes[base];
    }
    size_t number = base - FIRST_PORT;
    const port *port = number < manifest->inputs.count
                           ? AT(manifest->inputs, struct port, number)
                           : AT(manifest->outputs, struct port, number - manifest->inputs.count);
    return tensor_bytes(&port->shape, port->dtype);
}

static status check_buffers(const manifest *manifest, trivium_error *error) {
    int64_t bases = (int64_t)(FIRST_PORT + manifest->inputs.count + manifest->outputs.count);
    for (size_t i = 0; i < manifest->buffers.count; i++) {
        const buffer *each = AT(manifest->buffers, buffer, i);
        TRY(check_tensor(&each->shape, each->dtype, "buffers", i, error));
        if (each->base < 0 || each->base >= bases)
            return CORRUPT("manifest: 'buffers[%zu].base' is %lld, must be at least 0 and below "
                           "%lld", i, (long long)each->base, (long long)bases);
        if (each->offset < 0 || each->offset % item_bytes(each->dtype))
            return CORRUPT("manifest: 'buffers[%zu].offset' is %lld, must be 0 or a multiple of "
                           "%lld above it for %s", i, (long long)each->offset,
                           (long long)item_bytes(each->dtype), each->dtype);
        int64_t size = buffer_bytes(each), room = base_bytes(manifest, (size_t)each->base);
        if (size > room || each->offset > room - size)
            return CORRUPT("manifest: 'buffers[%zu]' of %lld bytes at byte %lld does not fit into "
                           "base %lld, which has %lld", i, (long long)size,
                           (long long)each->offset, (long long)each->base, (long long)room);
    }
    return TRIVIUM_OK;
}

static bool same_shape(const list *one, const list *two, size_t rank) {
    return !rank || !memcmp(one->items, two->items, rank * sizeof(int64_t));
}

/* Return whether a buffer has the elements of a port; complex numbers are pairs of real ones. */
static bool fits(const port *port, const buffer *buffer) {
    size_t rank = port->shape.count;
    if (!same_shape(&port->shape, &buffer->shape,
                    rank < buffer->shape.count ? rank : buffer->shape.count))
        return false;
    if (rank == buffer->shape.count)
        return !strcmp(port->dtype, buffer->dtype);
    bool pairs = (!strcmp(port->dtype, "complex64") && !strcmp(buffer->dtype, "float32")) ||
                 (!strcmp(port->dtype, "complex128") && !strcmp(buffer->dtype, "float64"));
    return pairs && rank + 1 == buffer->shape.count && *AT(buffer->shape, int64_t, rank) == 2;
}

static int by_text(const void *one, const void *two) {
    return strcmp(*(const char *const *)one, *(const char *const *)two);
}

static status check_ports(const manifest *manifest, const list *ports, const char *where,
                          heap *heap, trivium_error *error) {
    const char **names = heap_take(heap, ports->count, sizeof *names);
    if (!names)
        return SYSTEM("the system has no memory for a manifest");
    for (size_t i = 0; i < ports->count; i++) {
        const port *each = AT(*ports, port, i);
        names[i] = each->name;
        if (each->buffer < 0 || each->buffer >= (int64_t)manifest->buffers.count)
            return CORRUPT("manifest: '%s[%zu].buffer' is %lld, must be at least 0 and below %zu",
                           where, i, (long long)each->buffer, manifest->buffers.count);
        if (!fits(each, AT(manifest->buffers, buffer, each->buffer)))
            return CORRUPT("manifest: '%s[%zu]' is of another type than its buffer %lld", where,
                           i, (long long)each->buffer);
    }
    qsort(names, ports->count, sizeof *names, by_text);
    for (size_t i = 1; i < ports->count; i++)
        if (!strcmp(names[i - 1], names[i]))
            return CORRUPT("manifest: two of '%s' are named '%.80s'", where, names[i]);
    return TRIVIUM_OK;
}

static status check_inputs(const manifest *manifest, trivium_error *error) {
    for (size_t i = 0; i < manifest->inputs.count; i++) {
        int64_t number = AT(manifest->inputs, port, i)->buffer;
        const buffer *buffer = AT(manifest->buffers, struct buffer, number);
        if (buffer->base != (int64_t)(FIRST_PORT + i) || buffer->offset)
            return CORRUPT("manifest: 'inputs[%zu].buffer' is %lld, which lies at base %lld "
                           "offset %lld, must lie at base %zu offset 0", i, (long long)number,
                           (long long)buffer->base, (long long)buffer->offset, FIRST_PORT + i);
    }
    return TRIVIUM_OK;
}

/* Return whether steps of a run may write to a base. */
static bool is_written(const manifest *manifest, int64_t base) {
    for (size_t i = 0; i < manifest->carried.count; i++) {
        const carried *each = AT(manifest->carried, carried, i);
        if (each->in_place && base == (int64_t)(FIRST_PORT + each->input_number))
            return true;
    }
    return base == ARENA || base >= (int64_t)(FIRST_PORT + manifest->inputs.count);
}

/* Check the numbers of buffers of a step; at load, they must be constants. */
static status check_step(const manifest *manifest, const step *step, bool at_load,
                         const char *where, size_t number, trivium_error *error) {
    for (int kind = 0; kind < 2; kind++) {
        const list *indices = kind ? &step->results : &step->operands;
        for (size_t i = 0; i < indices->count; i++) {
            int64_t index = *AT(*indices, int64_t, i);
            if (index == ABSENT && !kind)
                continue;
            if (index < 0 || index >= (int64_t)manifest->buffers.count)
                return CORRUPT("manifest: '%s[%zu]' uses buffer %lld, must be at least 0 and "
                               "below %zu", where, number, (long long)index,
                               manifest->buffers.count);
            int64_t base = AT(manifest->buffers, buffer, index)->base;
            bool allowed = at_load ? base == PREPARED || (base == WEIGHTS && !kind)
                                   : !kind || is_written(manifest, base);
            if (!allowed)
                return CORRUPT("manifest: '%s[%zu]' %s buffer %lld, which is in base %lld", where,
                               number, kind ? "must not write to" : "must not read",
                               (long long)index, (long long)base);
        }
    }
    if (!*step->symbol)
        return CORRUPT("manifest: '%s[%zu].symbol' is empty, must name a function", where, number);
    TRY(check_range(step->phases, 0, MOST_PHASES, "phases of a step", error));
    return check_range(step->thread_bytes, 0, MOST_BYTES / MOST_THREADS, "thread_bytes of a step",
                       error);
}

static status check_steps(const manifest *manifest, trivium_error *error) {
    for (size_t i = 0; i < manifest->steps.count; i++)
        TRY(check_step(manifest, AT(manifest->steps, step, i), false, "steps", i, error));
    for (size_t i = 0; i < manifest->load_steps.count; i++)
        TRY(check_step(manifest, AT(manifest->load_steps, step, i), true, "load_steps", i, error));
    return TRIVIUM_OK;
}

static status check_kernels(const manifest *manifest, const archive *archive,
                            trivium_error *error) {
    for (size_t i = 0; i < manifest->kernels.count; i++) {
        const entry *found = find_entry(archive, AT(manifest->kernels, kernel, i)->object);
        if (!found || !found->checksum)
            return CORRUPT("manifest: 'parts.kernels[%zu].object' is '%.80s', which is not stored",
                           i, AT(manifest->kernels, kernel, i)->object);
    }
    return TRIVIUM_OK;
}

static status check_memory(const manifest *manifest, const archive *archive,
                           trivium_error *error) {
    const entry *weights = find_entry(archive, WEIGHTS_ENTRY);
    int64_t stored = weights ? (int64_t)weights->size : 0;
    TRY(check_range(manifest->memory.arena_bytes, 0, MOST_BYTES, "memory.arena_bytes", error));
    TRY(check_range(manifest->memory.arena_lower_bound, 0, MOST_BYTES, "memory.arena_lower_bound",
                    error));
    TRY(check_range(manifest->memory.prepared_bytes, 0, MOST_BYTES, "memory.prepared_bytes",
                    error));
    TRY(check_range(manifest->memory.thread_bytes, 0, MOST_BYTES / MOST_THREADS,
                    "memory.thread_bytes", error));
    if (!weights && find_entry(archive, WEIGHTS_ENTRY ".zst"))
        return UNSUPPORTED("the package has compressed weights, which libtrivium does not read: "
                           "compile the model without --compress");
    if (stored != manifest->memory.weight_bytes)
        return CORRUPT("manifest: 'memory.weight_bytes' is %lld, '" WEIGHTS_ENTRY "' has %lld "
                       "bytes", (long long)manifest->memory.weight_bytes, (long long)stored);
    return TRIVIUM_OK;
}

/* Check that a large entry has a checksum for each range, and that its own is that of their text.*/
static status check_ranges(const listed_entry *entry, heap *heap, trivium_error *error) {
    uint64_t size = (uint64_t)entry->size;
    size_t count = size > RANGE ? (size_t)((size + RANGE - 1) / RANGE) : 0, length = 0;
    if (entry->offset)
        return CORRUPT("manifest: entry '%.80s' is at offset %lld, must be at 0", entry->name,
                       (long long)entry->offset);
    if (entry->ranges.count != count)
        return CORRUPT("manifest: entry '%.80s' has %zu checksums of ranges, must have %zu for "
                       "%llu bytes", entry->name, entry->ranges.count, count,
                       (unsigned long long)size);
    if (!count)
        return TRIVIUM_OK;
    for (size_t i = 0; i < count; i++)
        length += strlen(*AT(entry->ranges, const char *, i)) + 1;
    char *text = heap_take(heap, length, 1), *end = text;
    if (!text)
        return SYSTEM("the system has no memory for a manifest");
    for (size_t i = 0; i < count; i++) {
        const char *each = *AT(entry->ranges, const char *, i);
        memcpy(end, each, strlen(each));
        end += strlen(each);
        *end++ = ' ';
    }
    bytes joined = {(const unsigned char *)text, length - 1};
    if (strncmp(entry->checksum, "sha256:", 7) || !has_checksum(joined, entry->checksum))
        return CORRUPT("manifest: entry '%.80s' has a checksum that is not that of its %zu ranges",
                       entry->name, count);
    return TRIVIUM_OK;
}

/* Check that the manifest lists all entries but itself and a signature, and no others. */
static status check_entries(const manifest *manifest, archive *archive, heap *heap,
                            trivium_error *error) {
    for (size_t i = 0; i < manifest->entries.count; i++) {
        const listed_entry *each = AT(manifest->entries, listed_entry, i);
        bool reserved = !strcmp(each->name, "manifest.json") || !strcmp(each->name, "signature");
        entry *found = reserved ? NULL : find_entry(archive, each->name);
        if (!found)
            return CORRUPT("is corrupt: it lacks entry '%.80s', which its manifest lists",
                           each->name);
        if (found->checksum)
            return CORRUPT("is corrupt: its manifest lists entry '%.80s' twice", each->name);
        found->checksum = each->checksum;
        if (each->size < 0 || (uint64_t)each->size != found->size)
            return CORRUPT("is corrupt: '%.80s' has %llu bytes, must have %lld", each->name,
                           (unsigned long long)found->size, (long long)each->size);
        TRY(check_ranges(each, heap, error));
        found->ranges = each->ranges.count ? each->ranges.items : NULL;
    }
    for (size_t i = 0; i < archive->count; i++) {
        const char *name = archive->entries[i].name;
        bool reserved = !strcmp(name, "manifest.json") || !strcmp(name, "signature");
        if (!archive->entries[i].checksum && !reserved)
            return CORRUPT("has an entry '%.80s', which its manifest does not list", name);
    }
    return TRIVIUM_OK;
}

status check_manifest(manifest *manifest, archive *archive, heap *heap,
                      trivium_error *error) {
    TRY(check_entries(manifest, archive, heap, error));
    TRY(check_memory(manifest, archive, error));
    for (size_t i = 0; i < manifest->inputs.count; i++) {
        const port *each = AT(manifest->inputs, port, i);
        TRY(check_tensor(&each->shape, each->dtype, "inputs", i, error));
    }
    for (size_t i = 0; i < manifest->outputs.count; i++) {
        const port *each = AT(manifest->outputs, port, i);
        TRY(check_tensor(&each->shape, each->dtype, "outputs", i, error));
    }
    TRY(check_buffers(manifest, error));
    TRY(check_ports(manifest, &manifest->inputs, "inputs", heap, error));
    TRY(check_ports(manifest, &manifest->outputs, "outputs", heap, error));
    TRY(check_inputs(manifest, error));
    TRY(check_carried(manifest, archive, error));
    TRY(check_range(manifest->threads, 0, MOST_THREADS, "settings.threads", error));
    TRY(check_steps(manifest, error));
    return check_kernels(manifest, archive, error);
}
