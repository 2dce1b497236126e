/* Read relocatable objects for x86-64 (ELF, System V ABI): sections, symbols, relocations. */
#include "internal.h"

#include <string.h>

enum { HEADER_SIZE = 64, SECTION_SIZE = 64, SYMBOL_SIZE = 24, RELOCATION_SIZE = 24 };
enum { SYMTAB = 2, RELA = 4, NOBITS = 8, REL = 9, INIT_ARRAY = 14, FINI_ARRAY = 15 };
enum { WRITE = 1, ALLOC = 2, EXECUTE = 4, THREAD_LOCAL = 0x400 };
enum { LOCAL = 0, WEAK = 2, UNDEFINED = 0, ABSOLUTE = 0xfff1, RESERVED = 0xff00 };
#define UNWIND 0x70000001u
#define MOST_ALIGNMENT 4096

/* The header of a section, as it is in the file. */
typedef struct raw_section {
    uint32_t name;
    uint32_t kind;
    uint64_t flags;
    uint64_t size;
    uint32_t link;
    uint32_t info;
    uint64_t alignment;
    bytes data;
} raw_section;

static status outside(const object *object, trivium_error *error) {
    return CORRUPT("'%.80s' is corrupt: it points outside of itself", object->name);
}

static status no_memory(trivium_error *error) {
    return SYSTEM("the system has no memory for the symbols of native code");
}

static bool part_of(bytes *part, bytes whole, uint64_t offset, uint64_t size) {
    if (offset > whole.size || whole.size - offset < size)
        return false;
    *part = (bytes){whole.data + offset, (size_t)size};
    return true;
}

/* Return the text at an offset of a table of texts, NULL where there is none. */
static const char *text_at(bytes table, uint64_t offset) {
    if (offset >= table.size || !memchr(table.data + offset, 0, table.size - offset))
        return NULL;
    return (const char *)table.data + offset;
}

static status read_headers(raw_section **raw, size_t *count, bytes *names, const object *object,
                           heap *heap, trivium_error *error) {
    const unsigned char *header = object->data.data;
    if (object->data.size < HEADER_SIZE || memcmp(header, "\x7f""ELF\2\1\1", 7) ||
        read16(header + 16) != 1 || read16(header + 18) != 62)
        return CORRUPT("'%.80s' is not a relocatable object for x86-64", object->name);
    *count = read16(header + 60);
    bytes table;
    if (!part_of(&table, object->data, read64(header + 40), *count * (uint64_t)SECTION_SIZE))
        return outside(object, error);
    *raw = take_zeroed(heap, *count, sizeof **raw);
    if (!*raw)
        return no_memory(error);
    for (size_t i = 0; i < *count; i++) {
        const unsigned char *at = table.data + i * SECTION_SIZE;
        raw_section *each = &(*raw)[i];
        *each = (raw_section){read32(at),      read32(at + 4),  read64(at + 8),  read64(at + 32),
                              read32(at + 40), read32(at + 44), read64(at + 48), {NULL, 0}};
        if (each->kind != NOBITS &&
            !part_of(&each->data, object->data, read64(at + 24), each->size))
            return outside(object, error);
    }
    size_t index = read16(header + 62);
    if (index >= *count)
        return outside(object, error);
    *names = (*raw)[index].data;
    return TRIVIUM_OK;
}

static status read_section(section *section, const raw_section *raw, bytes names,
                           const object *object, trivium_error *error) {
    const char *name = text_at(names, raw->name);
    if (!(raw->flags & ALLOC) || raw->kind == UNWIND)
        return TRIVIUM_OK;
    if (!name)
        return outside(object, error);
    if (!strcmp(name, ".eh_frame"))
        return TRIVIUM_OK;
    if (raw->flags & THREAD_LOCAL)
        return CORRUPT("'%.80s' has thread-local data in '%.40s', must have none", object->name,
                       name);
    if (raw->kind == INIT_ARRAY || raw->kind == FINI_ARRAY)
        return CORRUPT("'%.80s' has constructors in '%.40s', must have none", object->name, name);
    uint64_t alignment = raw->alignment ? raw->alignment : 1;
    if (alignment > MOST_ALIGNMENT || alignment & (alignment - 1))
        return CORRUPT("'%.80s' aligns '%.40s' to %llu, at most a page", object->name, name,
                       (unsigned long long)alignment);
    *section = (struct section){name,
                                raw->size,
                                alignment,
                                raw->kind == NOBITS ? (bytes){NULL, 0} : raw->data,
                                0,
                                true,
                                raw->flags & WRITE,
                                raw->flags & EXECUTE};
    if (section->writable && section->executable)
        return CORRUPT("'%.80s' has '%.40s' both writable and executable", object->name, name);
    return TRIVIUM_OK;
}

static status read_symbol(symbol *symbol, const unsigned char *at, bytes texts,
                          const object *object, trivium_error *error) {
    const char *name = text_at(texts, read32(at));
    if (!name)
        return outside(object, error);
    uint32_t section = read16(at + 6);
    uint64_t value = read64(at + 8);
    int binding = at[4] >> 4;
    *symbol = (struct symbol){name, value, 0, binding == LOCAL, binding == WEAK, true};
    if (section == ABSOLUTE)
        return TRIVIUM_OK;
    if (section >= RESERVED)
        return CORRUPT("'%.80s' leaves open where '%.80s' lives (a common symbol)", object->name,
                       name);
    symbol->section = section;
    symbol->defined = section != UNDEFINED && section < object->section_count &&
                      object->sections[section].loaded;
    if (symbol->defined && value > object->sections[section].size)
        return outside(object, error);
    return TRIVIUM_OK;
}

static status read_symbols(object *object, const raw_section *raw, size_t count, heap *heap,
                           trivium_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (raw[i].kind != SYMTAB)
            continue;
        if (raw[i].link >= count || raw[i].data.size % SYMBOL_SIZE)
            return outside(object, error);
        object->symbol_count = raw[i].data.size / SYMBOL_SIZE;
        object->symbols = take_zeroed(heap, object->symbol_count, sizeof(symbol));
        if (!object->symbols)
            return no_memory(error);
        for (size_t j = 0; j < object->symbol_count; j++)
            TRY(read_symbol(&object->symbols[j], raw[i].data.data + j * SYMBOL_SIZE,
                            raw[raw[i].link].data, object, error));
        return TRIVIUM_OK;
    }
    return TRIVIUM_OK;
}

static status add_relocations(object *object, const raw_section *table, relocation *to,
                              trivium_error *error) {
    for (size_t i = 0; i < table->data.size / RELOCATION_SIZE; i++) {
        const unsigned char *at = table->data.data + i * RELOCATION_SIZE;
        uint64_t info = read64(at + 8);
        to[i] = (relocation){read64(at), (int64_t)read64(at + 16), table->info, (uint32_t)info,
                             (uint32_t)(info >> 32)};
        if (to[i].symbol >= object->symbol_count)
            return outside(object, error);
    }
    return TRIVIUM_OK;
}

static status read_relocations(object *object, const raw_section *raw, size_t count, heap *heap,
                               trivium_error *error) {
    size_t total = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            object->relocations.items = take_zeroed(heap, total, sizeof(relocation));
            if (!object->relocations.items)
                return no_memory(error);
        }
        for (size_t i = 0; i < count; i++) {
            bool relocates = raw[i].kind == REL || raw[i].kind == RELA;
            bool applies = relocates && raw[i].info < count &&
                           object->sections[raw[i].info].loaded;
            if (!applies)
                continue;
            if (raw[i].kind == REL)
                return CORRUPT("'%.80s' has relocations without addends", object->name);
            if (raw[i].data.size % RELOCATION_SIZE)
                return outside(object, error);
            if (pass) {
                TRY(add_relocations(
                    object, &raw[i],
                    AT(object->relocations, relocation, object->relocations.count), error));
                object->relocations.count += raw[i].data.size / RELOCATION_SIZE;
            } else {
                total += raw[i].data.size / RELOCATION_SIZE;
            }
        }
    }
    return TRIVIUM_OK;
}

status read_object(object *object, heap *heap, trivium_error *error) {
    raw_section *raw = NULL;
    size_t count = 0;
    bytes names = {NULL, 0};
    TRY(read_headers(&raw, &count, &names, object, heap, error));
    object->sections = take_zeroed(heap, count, sizeof(section));
    if (!object->sections)
        return no_memory(error);
    object->section_count = count;
    for (size_t i = 0; i < count; i++)
        TRY(read_section(&object->sections[i], &raw[i], names, object, error));
    TRY(read_symbols(object, raw, count, heap, error));
    return read_relocations(object, raw, count, heap, error);
}
