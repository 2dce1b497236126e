/* State: outputs that are inputs of the next run. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CARRIED = 4096 };

static size_t find_port(const list *ports, const char *name) {
    size_t number = 0;
    while (number < ports->count && strcmp(AT(*ports, port, number)->name, name))
        number++;
    return number;
}

static bool same_type(const port *one, const port *two) {
    size_t rank = one->shape.count;
    return rank == two->shape.count && !strcmp(one->dtype, two->dtype) &&
           (!rank || !memcmp(one->shape.items, two->shape.items, rank * sizeof(int64_t)));
}

static bool same_place(const manifest *manifest, const port *one, const port *two) {
    const buffer *first = AT(manifest->buffers, buffer, one->buffer);
    const buffer *second = AT(manifest->buffers, buffer, two->buffer);
    return first->base == second->base && first->offset == second->offset;
}

static status check_pair(const manifest *manifest, carried *pair, size_t number, int64_t stored,
                         trivium_error *error) {
    pair->output_number = find_port(&manifest->outputs, pair->output);
    pair->input_number = find_port(&manifest->inputs, pair->input);
    if (pair->output_number == manifest->outputs.count ||
        pair->input_number == manifest->inputs.count)
        return CORRUPT("manifest: 'carried[%zu]' is from '%.80s' to '%.80s', must be an output and "
                       "an input", number, pair->output, pair->input);
    port *output = AT(manifest->outputs, port, pair->output_number);
    port *input = AT(manifest->inputs, port, pair->input_number);
    if (!same_type(output, input) || input->held)
        return CORRUPT("manifest: 'carried[%zu]' is from '%.80s' to '%.80s', must be of one type, "
                       "and each input once", number, pair->output, pair->input);
    if (pair->in_place && !same_place(manifest, output, input))
        return CORRUPT("manifest: 'carried[%zu].in_place' is true, but output '%.80s' is elsewhere "
                       "than input '%.80s'", number, pair->output, pair->input);
    int64_t size = tensor_bytes(&output->shape, output->dtype);
    if (pair->initial &&
        (pair->is_unbound || *pair->initial < 0 || *pair->initial > stored - size))
        return CORRUPT("manifest: 'carried[%zu].initial' is %lld, must be the place of %lld bytes "
                       "in '" STATE_ENTRY "', which has %lld", number, (long long)*pair->initial,
                       (long long)size, (long long)stored);
    if (pair->is_unbound && pair->in_place)
        return UNSUPPORTED("the package updates input '%.80s' in place, which libtrivium does for "
                           "state that it holds: compile the model with states={'%.80s': '%.80s'}",
                           pair->input, pair->output, pair->input);
    input->held = !pair->is_unbound;
    output->held |= !pair->is_unbound;
    output->in_place |= pair->in_place;
    return TRIVIUM_OK;
}

status check_carried(manifest *manifest, const archive *archive, trivium_error *error) {
    if (manifest->carried.count > MOST_CARRIED)
        return UNSUPPORTED("the package has %zu values of state, libtrivium carries up to %d",
                           manifest->carried.count, MOST_CARRIED);
    const entry *entry = find_entry(archive, STATE_ENTRY);
    int64_t stored = entry ? (int64_t)entry->size : 0;
    for (size_t i = 0; i < manifest->carried.count; i++) {
        carried *pair = AT(manifest->carried, carried, i);
        TRY(check_pair(manifest, pair, i, stored, error));
        for (size_t j = 0; j < i; j++)
            if (AT(manifest->carried, carried, j)->input_number == pair->input_number)
                return CORRUPT("manifest: 'carried[%zu]' is to '%.80s', as is an earlier one", i,
                               pair->input);
    }
    return TRIVIUM_OK;
}
