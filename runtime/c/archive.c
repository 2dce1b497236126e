/* Read the container: a zip whose entries are stored as they are, as runtime/file/archive.py
 * writes it. What any other tool makes is refused, so that every byte is in one entry at most. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { LOCAL_SIZE = 30, CENTRAL_SIZE = 46, END_SIZE = 22, END64_SIZE = 56, LOCATOR_SIZE = 20 };
enum { WIDE_EXTRA = 28, EXTRA64 = 1 };
#define IN_EXTRA 0xffffffffu
#define NAMES \
    "a path of letters, digits and _ . + -, each part of which starts with a letter, digit or _"

/* Find `size` bytes at a place, which begin with a mark. */
static status find_record(const unsigned char **record, const char *mark, bytes file,
                          uint64_t place, size_t size, trivium_error *error) {
    if (place > file.size || file.size - place < size)
        return CORRUPT("is corrupt or truncated: it should have a record of %zu bytes at byte "
                       "%llu, it ends at %zu", size, (unsigned long long)place, file.size);
    *record = file.data + place;
    if (memcmp(*record, mark, 4))
        return CORRUPT("is corrupt: it has no '%.2s' record at byte %llu", mark,
                       (unsigned long long)place);
    return TRIVIUM_OK;
}

typedef struct directory {
    uint64_t count; /* of the entries that are listed */
    uint64_t start;
    uint64_t end;
} directory;

static status find_directory(directory *found, bytes file, trivium_error *error) {
    if (file.size < END_SIZE || memcmp(file.data + file.size - END_SIZE, "PK\5\6", 4))
        return CORRUPT("is truncated, or has bytes behind its end: the last %d of its %zu bytes "
                       "are no end mark", END_SIZE, file.size);
    const unsigned char *end = file.data + file.size - END_SIZE;
    if (read16(end + 4) || read16(end + 6) || read16(end + 20))
        return CORRUPT("is corrupt: its end mark counts disks %u and %u and %u bytes of comment, "
                       "all must be 0", read16(end + 4), read16(end + 6), read16(end + 20));
    uint64_t size = read32(end + 12);
    *found = (directory){read16(end + 10), read32(end + 16), file.size - END_SIZE};
    if (found->start == IN_EXTRA) {
        const unsigned char *locator, *wide;
        uint64_t place = file.size - END_SIZE - LOCATOR_SIZE; /* huge where there is no room */
        TRY(find_record(&locator, "PK\6\7", file, place, LOCATOR_SIZE, error));
        found->end = read64(locator + 8);
        TRY(find_record(&wide, "PK\6\6", file, found->end, END64_SIZE, error));
        found->count = read64(wide + 32);
        size = read64(wide + 40);
        found->start = read64(wide + 48);
    }
    if (found->start > found->end || found->end - found->start != size)
        return CORRUPT("is corrupt or truncated: its list of entries of %llu bytes at byte %llu "
                       "should end at byte %llu", (unsigned long long)size,
                       (unsigned long long)found->start, (unsigned long long)found->end);
    if (found->count > size / CENTRAL_SIZE)
        return CORRUPT("is corrupt: %llu entries do not fit into a list of %llu bytes",
                       (unsigned long long)found->count, (unsigned long long)size);
    return TRIVIUM_OK;
}

static bool begins_part(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_name(bytes name) {
    bool starts = true;
    for (size_t i = 0; i < name.size; i++) {
        unsigned char c = name.data[i];
        bool separates = c == '/';
        if (starts ? !begins_part(c) : !begins_part(c) && !separates && !strchr(".+-", c))
            return false;
        if (!c)
            return false;
        starts = separates;
    }
    return !starts;
}

/* Read the entry that is listed at a place, and move on to the next one. */
static status read_central(entry *entry, uint64_t *place, const directory *listed, bytes file,
                           heap *heap, trivium_error *error) {
    const unsigned char *header;
    TRY(find_record(&header, "PK\1\2", file, *place, CENTRAL_SIZE, error));
    size_t name_size = read16(header + 28), extra_size = read16(header + 30);
    uint64_t following = *place + CENTRAL_SIZE + name_size + extra_size + read16(header + 32);
    if (following > listed->end)
        return CORRUPT("is corrupt: the entry listed at byte %llu reaches to byte %llu, the list "
                       "of entries to %llu", (unsigned long long)*place,
                       (unsigned long long)following, (unsigned long long)listed->end);
    bytes name = {header + CENTRAL_SIZE, name_size};
    if (!is_name(name))
        return CORRUPT("the entry listed at byte %llu is named '%.*s', a name must be " NAMES,
                       (unsigned long long)*place, (int)(name_size < 80 ? name_size : 80),
                       (const char *)name.data);
    char *copy = take_zeroed(heap, name_size + 1, 1);
    if (!copy)
        return SYSTEM("the system has no memory for a list of entries");
    memcpy(copy, name.data, name_size);
    entry->name = copy;
    entry->crc = read32(header + 16);
    entry->size = read32(header + 24);
    entry->offset = read32(header + 42);
    uint64_t stored = read32(header + 20);
    if (entry->offset == IN_EXTRA) {
        const unsigned char *extra = name.data + name_size;
        if (following - *place - CENTRAL_SIZE - name_size != WIDE_EXTRA ||
            read16(extra) != EXTRA64)
            return CORRUPT("is corrupt: entry '%.80s' has wide sizes, but not listed as such",
                           copy);
        entry->size = read64(extra + 4);
        stored = read64(extra + 12);
        entry->offset = read64(extra + 20);
    }
    if (read16(header + 8) || read16(header + 10))
        return CORRUPT("entry '%.80s' has compression method %u and flags %#x, must be stored as "
                       "it is, without flags: do not pack a package again with another tool",
                       copy, read16(header + 10), read16(header + 8));
    if (stored != entry->size)
        return CORRUPT("is corrupt: entry '%.80s' is of %llu bytes and of %llu", copy,
                       (unsigned long long)stored, (unsigned long long)entry->size);
    *place = following;
    return TRIVIUM_OK;
}

/* Replace the offset of the header of an entry by that of its data. */
static status locate(entry *entry, bytes file, uint64_t end, trivium_error *error) {
    const unsigned char *header;
    TRY(find_record(&header, "PK\3\4", file, entry->offset, LOCAL_SIZE, error));
    size_t length = strlen(entry->name), name_size = read16(header + 26);
    uint64_t name_at = entry->offset + LOCAL_SIZE;
    uint64_t start = name_at + name_size + read16(header + 28);
    if (name_size != length || file.size - name_at < length ||
        memcmp(file.data + name_at, entry->name, length))
        return CORRUPT("is corrupt: entry '%.80s' is listed for byte %llu, where another one is",
                       entry->name, (unsigned long long)entry->offset);
    if (start > end || end - start < entry->size)
        return CORRUPT("is corrupt: entry '%.80s' reaches past byte %llu, where the list of "
                       "entries starts", entry->name, (unsigned long long)end);
    entry->offset = start;
    entry->data = file.data + start;
    return TRIVIUM_OK;
}

static int by_name(const void *one, const void *two) {
    return strcmp(((const entry *)one)->name, ((const entry *)two)->name);
}

static int by_offset(const void *one, const void *two) {
    uint64_t first = ((const entry *)one)->offset, second = ((const entry *)two)->offset;
    return (first > second) - (first < second);
}

static status check_disjoint(const archive *archive, trivium_error *error) {
    uint64_t position = 0;
    qsort(archive->entries, archive->count, sizeof(entry), by_offset);
    for (size_t i = 0; i < archive->count; i++) {
        const entry *each = &archive->entries[i];
        if (each->offset - LOCAL_SIZE - strlen(each->name) < position)
            return CORRUPT("is corrupt: entry '%.80s' overlaps the one before it", each->name);
        position = each->offset + each->size;
    }
    return TRIVIUM_OK;
}

status sort_archive(archive *archive, trivium_error *error) {
    qsort(archive->entries, archive->count, sizeof(entry), by_name);
    for (size_t i = 1; i < archive->count; i++)
        if (!by_name(&archive->entries[i - 1], &archive->entries[i]))
            return CORRUPT("is corrupt: entry '%.80s' occurs twice", archive->entries[i].name);
    return TRIVIUM_OK;
}

status read_archive(archive *archive, bytes file, heap *heap, trivium_error *error) {
    if (!file.size)
        return CORRUPT("is not a package: it is empty");
    if (file.size < 4 || memcmp(file.data, "PK\3\4", 4))
        return CORRUPT("is not a package: it starts with '%.*s'",
                       (int)(file.size < 8 ? file.size : 8), (const char *)file.data);
    directory listed;
    TRY(find_directory(&listed, file, error));
    archive->entries = take_zeroed(heap, (size_t)listed.count, sizeof(entry));
    if (!archive->entries)
        return SYSTEM("the system has no memory for a list of entries");
    archive->count = (size_t)listed.count;
    uint64_t place = listed.start;
    for (size_t i = 0; i < archive->count; i++) {
        TRY(read_central(&archive->entries[i], &place, &listed, file, heap, error));
        TRY(locate(&archive->entries[i], file, listed.start, error));
    }
    if (place != listed.end)
        return CORRUPT("is corrupt: %llu bytes follow its list of entries",
                       (unsigned long long)(listed.end - place));
    TRY(check_disjoint(archive, error));
    return sort_archive(archive, error);
}

entry *find_entry(const archive *archive, const char *name) {
    entry key = {.name = name};
    return bsearch(&key, archive->entries, archive->count, sizeof(entry), by_name);
}
