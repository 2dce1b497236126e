/* Decode a manifest: tables of its records say which fields there are, and where they go.
 *
 * The records are those of runtime/contents.py and runtime/cpu. Fields that this library does not
 * need are checked for their kind, and go nowhere. */
#include "internal.h"

#include <stdio.h>
#include <string.h>

typedef enum field_kind {
    ANY,
    TEXT,
    INTEGER,
    OPTIONAL_INTEGER, /* or null: a pointer to it, or NULL */
    BOOLEAN,
    UNLESS, /* a boolean, of which the opposite is stored */
    NUMBER,
    INTEGERS,
    TEXTS,
    RECORD,
    RECORDS,
    EMPTY
} field_kind;

typedef struct field {
    const char *name;
    field_kind kind;
    bool optional;
    size_t to; /* where it goes in the record, or NOWHERE */
    const struct record *record;
} field;

typedef struct record {
    const field *fields;
    size_t count;
    size_t size;
    const char *kind; /* the value of a field `kind` that it has besides, or NULL */
} record;

#define NOWHERE SIZE_MAX
#define SKIP(name, kind) {name, kind, false, NOWHERE, NULL}
#define SKIP_OPTIONAL(name, kind) {name, kind, true, NOWHERE, NULL}
#define PUT(type, name, kind) {#name, kind, false, offsetof(type, name), NULL}
#define RECORD_OF(fields, type, kind) {fields, COUNT(fields), sizeof(type), kind}

static const field PORT_FIELDS[] = {
    PUT(port, name, TEXT),
    PUT(port, shape, INTEGERS),
    PUT(port, dtype, TEXT),
    PUT(port, buffer, INTEGER),
};
static const record PORT = RECORD_OF(PORT_FIELDS, port, NULL);

static const field BUFFER_FIELDS[] = {
    PUT(buffer, name, TEXT),     PUT(buffer, base, INTEGER), PUT(buffer, offset, INTEGER),
    PUT(buffer, shape, INTEGERS), PUT(buffer, dtype, TEXT),  SKIP("layout", TEXT),
};
static const record BUFFER = RECORD_OF(BUFFER_FIELDS, buffer, NULL);

#define MEMORY_AT(name) {#name, INTEGER, false, offsetof(manifest, memory.name), NULL}
static const field MEMORY_FIELDS[] = {
    MEMORY_AT(arena_bytes),  MEMORY_AT(arena_lower_bound), MEMORY_AT(weight_bytes),
    MEMORY_AT(thread_bytes), MEMORY_AT(prepared_bytes),
};
static const record MEMORY = RECORD_OF(MEMORY_FIELDS, manifest, NULL);

static const field ENTRY_FIELDS[] = {
    PUT(listed_entry, name, TEXT),
    PUT(listed_entry, size, INTEGER),
    PUT(listed_entry, checksum, TEXT),
    {"ranges", TEXTS, true, offsetof(listed_entry, ranges), NULL},
    SKIP_OPTIONAL("file", TEXT),
    {"offset", INTEGER, true, offsetof(listed_entry, offset), NULL},
};
static const record ENTRY = RECORD_OF(ENTRY_FIELDS, listed_entry, NULL);

static const field MATH_FIELDS[] = {
    SKIP("mode", TEXT),
    SKIP("winograd_error", NUMBER),
    SKIP("precision", TEXT),
};
static const record MATH = RECORD_OF(MATH_FIELDS, manifest, NULL);

static const field SETTINGS_FIELDS[] = {
    {"threads", INTEGER, true, offsetof(manifest, threads), NULL},
    SKIP_OPTIONAL("cores", EMPTY),
};
static const record SETTINGS = RECORD_OF(SETTINGS_FIELDS, manifest, NULL);

static const field CARRIED_FIELDS[] = {
    PUT(carried, output, TEXT),
    PUT(carried, input, TEXT),
    {"initial", OPTIONAL_INTEGER, true, offsetof(carried, initial), NULL},
    {"is_bound", UNLESS, true, offsetof(carried, is_unbound), NULL},
    {"in_place", BOOLEAN, true, offsetof(carried, in_place), NULL},
};
static const record CARRIED = RECORD_OF(CARRIED_FIELDS, carried, NULL);

static const field KERNEL_FIELDS[] = {
    PUT(kernel, symbol, TEXT),
    PUT(kernel, object, TEXT),
    SKIP("nodes", TEXTS),
    SKIP("ops", TEXTS),
    SKIP("calls", INTEGER),
    SKIP("load_calls", INTEGER),
};
static const record KERNEL = RECORD_OF(KERNEL_FIELDS, kernel, NULL);

static const field MACHINE_FIELDS[] = {
    PUT(machine, architecture, TEXT),
    PUT(machine, features, TEXTS),
    {"machine", TEXT, false, offsetof(machine, name), NULL},
};
static const record MACHINE = RECORD_OF(MACHINE_FIELDS, machine, NULL);

static const field CPU_PART_FIELDS[] = {
    {"kernels", RECORDS, false, offsetof(manifest, kernels), &KERNEL},
    {"machines", RECORDS, false, offsetof(manifest, machines), &MACHINE},
};
static const record CPU_PART = RECORD_OF(CPU_PART_FIELDS, manifest, "cpu");

static const field STEP_FIELDS[] = {
    PUT(step, operands, INTEGERS),
    PUT(step, results, INTEGERS),
    SKIP("nodes", TEXTS),
    SKIP("reason", TEXT),
    SKIP_OPTIONAL("finds", EMPTY),
    PUT(step, symbol, TEXT),
    PUT(step, phases, INTEGER),
    SKIP_OPTIONAL("tables", EMPTY),
    {"thread_bytes", INTEGER, true, offsetof(step, thread_bytes), NULL},
};
static const record STEP = RECORD_OF(STEP_FIELDS, step, "cpu");

#define PUT_RECORDS(name, record) {#name, RECORDS, false, offsetof(manifest, name), record}
static const field MANIFEST_FIELDS[] = {
    SKIP("format", TEXT),
    SKIP("version", INTEGER),
    SKIP("producer", TEXT),
    SKIP("source", TEXT),
    SKIP("target", TEXT),
    SKIP("targets", TEXTS),
    {"math", RECORD, false, 0, &MATH},
    PUT_RECORDS(inputs, &PORT),
    PUT_RECORDS(outputs, &PORT),
    PUT_RECORDS(buffers, &BUFFER),
    {"memory", RECORD, false, 0, &MEMORY},
    SKIP("spaces", EMPTY),
    SKIP("parts", ANY),
    PUT_RECORDS(entries, &ENTRY),
    {"carried", RECORDS, true, offsetof(manifest, carried), &CARRIED},
    SKIP_OPTIONAL("kept", TEXTS),
    {"settings", RECORD, true, 0, &SETTINGS},
    PUT_RECORDS(steps, &STEP),
    PUT_RECORDS(load_steps, &STEP),
};
static const record MANIFEST = RECORD_OF(MANIFEST_FIELDS, manifest, NULL);

/* The place of a value in the document. */
typedef struct place {
    const struct place *parent;
    const char *name; /* or NULL: an element of a list */
    size_t number;
} place;

typedef struct decoder {
    heap *heap;
    trivium_error *error;
} decoder;

static size_t spell(const place *place, char *text, size_t size) {
    if (!place)
        return 0;
    size_t used = spell(place->parent, text, size);
    int added = place->name ? snprintf(text + used, size - used, "%s%.60s", used ? "." : "",
                                       place->name)
                            : snprintf(text + used, size - used, "[%zu]", place->number);
    used += (size_t)added;
    return used < size ? used : size - 1;
}

static status refuse(const decoder *decoder, const place *place, const char *what) {
    char where[200] = "";
    spell(place, where, sizeof where);
    return FAIL(decoder->error, TRIVIUM_ERROR_PACKAGE, "manifest: '%s' %s", where, what);
}

static status no_memory(const decoder *decoder) {
    return FAIL(decoder->error, TRIVIUM_ERROR_SYSTEM, "the system has no memory for a manifest");
}

static status decode_record(const decoder *decoder, const json *value, const record *record,
                            void *to, const place *place);

/* Decode a list of numbers, texts or records, each of `size` bytes. */
static status decode_list(const decoder *decoder, const json *value, const field *field,
                          char *record, const place *where) {
    if (value->kind != JSON_LIST)
        return refuse(decoder, where, "must be a list");
    size_t size = field->kind == INTEGERS ? sizeof(int64_t)
                  : field->kind == TEXTS  ? sizeof(char *)
                                          : field->record->size;
    char *items = heap_take(decoder->heap, value->count, size);
    if (!items)
        return no_memory(decoder);
    const json *element = value->value.first;
    for (size_t i = 0; i < value->count; i++, element = element->next) {
        place here = {where, NULL, i};
        char *item = items + i * size;
        if (field->kind == RECORDS) {
            TRY(decode_record(decoder, element, field->record, item, &here));
        } else if (field->kind == INTEGERS) {
            if (element->kind != JSON_INTEGER)
                return refuse(decoder, &here, "must be an integer of 64 bits");
            memcpy(item, &element->value.integer, size);
        } else {
            if (element->kind != JSON_TEXT)
                return refuse(decoder, &here, "must be a text");
            memcpy(item, &element->value.text, size);
        }
    }
    if (field->to != NOWHERE)
        *(list *)(void *)(record + field->to) = (list){items, value->count};
    return TRIVIUM_OK;
}

/* Keep an integer, and put a pointer to it. */
static status keep_integer(const decoder *decoder, const json *value, char *to) {
    int64_t *kept = heap_take(decoder->heap, 1, sizeof *kept);
    if (!kept)
        return no_memory(decoder);
    *kept = value->value.integer;
    memcpy(to, &kept, sizeof kept);
    return TRIVIUM_OK;
}

static status decode_field(const decoder *decoder, const json *value, const field *field,
                           char *record, const place *where) {
    char *to = field->to == NOWHERE ? NULL : record + field->to;
    switch (field->kind) {
    case ANY:
        return TRIVIUM_OK;
    case TEXT:
        if (value->kind != JSON_TEXT)
            return refuse(decoder, where, "must be a text");
        if (to)
            memcpy(to, &value->value.text, sizeof value->value.text);
        return TRIVIUM_OK;
    case INTEGER:
        if (value->kind != JSON_INTEGER)
            return refuse(decoder, where, "must be an integer of 64 bits");
        if (to)
            memcpy(to, &value->value.integer, sizeof value->value.integer);
        return TRIVIUM_OK;
    case OPTIONAL_INTEGER:
        if (value->kind != JSON_INTEGER && value->kind != JSON_NULL)
            return refuse(decoder, where, "must be an integer of 64 bits or null");
        if (value->kind == JSON_INTEGER)
            return keep_integer(decoder, value, to);
        return TRIVIUM_OK;
    case BOOLEAN:
    case UNLESS:
        if (value->kind != JSON_BOOLEAN)
            return refuse(decoder, where, "must be a boolean");
        *(bool *)to = value->value.integer == (field->kind == BOOLEAN);
        return TRIVIUM_OK;
    case NUMBER:
        return value->kind == JSON_NUMBER ? TRIVIUM_OK
                                          : refuse(decoder, where, "must be a number");
    case EMPTY:
        if (value->kind == JSON_LIST && !value->count)
            return TRIVIUM_OK;
        return refuse(decoder, where, "must be an empty list for libtrivium");
    case RECORD:
        return decode_record(decoder, value, field->record, record, where);
    default:
        return decode_list(decoder, value, field, record, where);
    }
}

static const field *field_named(const record *record, const char *name) {
    for (size_t i = 0; i < record->count; i++)
        if (!strcmp(record->fields[i].name, name))
            return &record->fields[i];
    return NULL;
}

static status decode_record(const decoder *decoder, const json *value, const record *record,
                            void *to, const place *where) {
    uint32_t seen = 0; /* by the numbers of fields, of which there are fewer than 32 */
    bool has_kind = false;
    if (value->kind != JSON_OBJECT)
        return refuse(decoder, where, "must be an object");
    for (const json *each = value->value.first; each; each = each->next) {
        place here = {where, each->name, 0};
        if (record->kind && !strcmp(each->name, "kind")) {
            if (has_kind)
                return refuse(decoder, &here, "occurs twice in one object");
            has_kind = true;
            continue;
        }
        const field *field = field_named(record, each->name);
        if (!field)
            return refuse(decoder, &here, "is unknown");
        uint32_t bit = UINT32_C(1) << (field - record->fields);
        if (seen & bit)
            return refuse(decoder, &here, "occurs twice in one object");
        seen |= bit;
        TRY(decode_field(decoder, each, field, to, &here));
    }
    for (size_t i = 0; i < record->count; i++) {
        const field *field = &record->fields[i];
        place here = {where, field->name, 0};
        if (!(seen >> i & 1) && !field->optional)
            return refuse(decoder, &here, "is missing");
    }
    return TRIVIUM_OK;
}

/* Decode the part for CPUs; those of other targets say nothing that a run needs. */
static status decode_parts(const decoder *decoder, manifest *manifest, const json *parts) {
    bool found = false;
    place list = {NULL, "parts", 0};
    if (!parts || parts->kind != JSON_LIST)
        return refuse(decoder, &list, "must be a list");
    place here = {&list, NULL, 0};
    for (const json *each = parts->value.first; each; each = each->next, here.number++) {
        if (!*json_text(each, "kind"))
            return refuse(decoder, &here, "must have a kind");
        if (strcmp(json_text(each, "kind"), "cpu"))
            continue;
        if (found)
            return refuse(decoder, &here, "is of kind 'cpu', as is an earlier one");
        found = true;
        TRY(decode_record(decoder, each, &CPU_PART, manifest, &here));
    }
    return TRIVIUM_OK;
}

status decode_manifest(manifest *manifest, const json *document, heap *heap,
                       trivium_error *error) {
    decoder decoder = {heap, error};
    TRY(check_support(document, error));
    TRY(decode_record(&decoder, document, &MANIFEST, manifest, NULL));
    return decode_parts(&decoder, manifest, json_field(document, "parts"));
}
