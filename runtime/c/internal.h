/* What the files of libtrivium share. Start reading at package.c: opening is that file from top to
 * bottom, a run is session.c. The manifest is described by docs/packages.md. */
#ifndef TRIVIUM_INTERNAL_H
#define TRIVIUM_INTERNAL_H

#define _GNU_SOURCE /* madvise, sched_getaffinity */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trivium.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef trivium_status status;

typedef struct bytes {
    const unsigned char *data;
    size_t size;
} bytes;

/* error.c */

/* Set an error; what is not printable in its text is escaped. */
void set_error(trivium_error *error, status code, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Set an error, and have its status as value. */
#define FAIL(error, code, ...) (set_error(error, code, __VA_ARGS__), (code))
#define CORRUPT(...) FAIL(error, TRIVIUM_ERROR_PACKAGE, __VA_ARGS__)
#define UNSUPPORTED(...) FAIL(error, TRIVIUM_ERROR_UNSUPPORTED, __VA_ARGS__)
#define SYSTEM(...) FAIL(error, TRIVIUM_ERROR_SYSTEM, __VA_ARGS__)
#define ARGUMENT(...) FAIL(error, TRIVIUM_ERROR_ARGUMENT, __VA_ARGS__)

/* Return from a function with the status of another one, unless that is OK. */
#define TRY(call)                          \
    do {                                   \
        status tried = (call);             \
        if (tried != TRIVIUM_OK)           \
            return tried;                  \
    } while (0)

/* Begin the text of an error with the name of a file. */
void prefix_error(trivium_error *error, const char *name);

/* memory.c */

/* Blocks of zeroed memory that are freed together. */
typedef struct heap {
    struct heap_block *last;
} heap;

/* Return `count` times `size` zeroed bytes, NULL where the system has less. */
void *heap_take(heap *heap, size_t count, size_t size);
void heap_free(heap *heap);

/* Zeroed memory on a page, in huge pages where it is large. */
typedef struct mapping {
    void *data;
    void *start; /* of what is mapped */
    size_t mapped;
} mapping;

status map_memory(mapping *map, uint64_t size, const char *purpose, trivium_error *error);
void unmap_memory(mapping *map);

/* checksum.c */

/* Return whether bytes have a checksum, which names its own kind. */
bool has_checksum(bytes data, const char *expected);
uint32_t crc32_of(bytes data);

/* archive.c */

typedef struct entry {
    const char *name;
    uint64_t offset;
    uint64_t size;
    uint32_t crc;
    const char *checksum;       /* by which the manifest vouches for it, or NULL */
    const char *const *ranges;  /* those of each `RANGE` bytes, where it has more than these */
} entry;

enum { RANGE = 2 << 20 };

/* The entries of a file, by name. */
typedef struct archive {
    entry *entries;
    size_t count;
} archive;

status read_archive(archive *archive, bytes file, heap *heap, trivium_error *error);
entry *find_entry(const archive *archive, const char *name);

static inline uint16_t read16(const unsigned char *at) {
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t read32(const unsigned char *at) {
    return read16(at) | (uint32_t)read16(at + 2) << 16;
}

static inline uint64_t read64(const unsigned char *at) {
    return read32(at) | (uint64_t)read32(at + 4) << 32;
}

/* json.c */

typedef enum json_kind {
    JSON_NULL,
    JSON_BOOLEAN,
    JSON_INTEGER,
    JSON_HUGE,   /* an integer beyond 64 bits */
    JSON_NUMBER, /* with a point or an exponent: nobody needs its value */
    JSON_TEXT,
    JSON_LIST,
    JSON_OBJECT
} json_kind;

typedef struct json {
    const char *name; /* in an object */
    const struct json *next;
    union {
        int64_t integer;
        const char *text;
        const struct json *first;
    } value;
    uint32_t count; /* of the elements of a list or an object */
    json_kind kind;
} json;

/* Parse a document, whose texts are then in `text`: that has a zero behind its `size`. */
status parse_json(const json **document, char *text, size_t size, heap *heap, trivium_error *error);
const json *json_field(const json *object, const char *name);

/* Return a field that is a text, or "". */
const char *json_text(const json *object, const char *name);

/* unsupported.c */

status check_support(const json *document, trivium_error *error);

/* manifest.c */

typedef struct list {
    void *items;
    size_t count;
} list;

typedef struct port {
    const char *name;
    list shape; /* of int64_t */
    const char *dtype;
    int64_t buffer;
    bool held;     /* by sessions, as state: neither given nor returned */
    bool in_place; /* an output that is the new value of an input, in its memory */
} port;

typedef struct buffer {
    const char *name;
    int64_t base;
    int64_t offset;
    list shape; /* of int64_t */
    const char *dtype;
} buffer;

typedef struct listed_entry {
    const char *name;
    int64_t size;
    const char *checksum; /* of all, or of the text of those of ranges */
    list ranges;          /* of const char * */
    int64_t offset;
} listed_entry;

typedef struct kernel {
    const char *symbol;
    const char *object;
} kernel;

typedef struct machine {
    const char *architecture;
    list features; /* of const char * */
    const char *name;
} machine;

typedef struct step {
    list operands; /* of int64_t */
    list results;  /* of int64_t */
    const char *symbol;
    int64_t phases;
    int64_t thread_bytes;
    uintptr_t program; /* the address of its function, once code is linked */
} step;

/* An output that is the new value of an input, for the next run. */
typedef struct carried {
    const char *output;
    const char *input;
    const int64_t *initial; /* the place in `state.bin` of what it begins with; NULL for zeros */
    bool is_unbound;        /* to be carried by the caller */
    bool in_place;
    size_t output_number; /* filled in by the checks */
    size_t input_number;
} carried;

typedef struct manifest {
    list inputs;     /* of port */
    list outputs;    /* of port */
    list buffers;    /* of buffer */
    list entries;    /* of listed_entry */
    list steps;      /* of step */
    list load_steps; /* of step */
    list kernels;    /* of kernel */
    list machines;   /* of machine */
    list carried;    /* of carried */
    struct {
        int64_t arena_bytes;
        int64_t arena_lower_bound;
        int64_t weight_bytes;
        int64_t thread_bytes;
        int64_t prepared_bytes;
    } memory;
    int64_t threads;
} manifest;

/* memory.c: the bytes of one element of a type, 0 for no type; those of a checked tensor. */
int64_t item_bytes(const char *dtype);
int64_t tensor_bytes(const list *shape, const char *dtype);
int64_t buffer_bytes(const buffer *buffer);

#define AT(list, type, number) (&((type *)(list).items)[number])

/* Decode a manifest; what this library cannot run is refused by name. */
status decode_manifest(manifest *manifest, const json *document, heap *heap, trivium_error *error);

/* checks.c */

enum { ARENA, WEIGHTS, PREPARED, FIRST_PORT };
#define WEIGHTS_ENTRY "weights.bin"
#define STATE_ENTRY "state.bin"
#define THREADS_ENTRY "cpu/threads.o"
#define MOST_THREADS 1024
#define MOST_BYTES (INT64_C(1) << 47)

/* Check that a manifest is sound: nothing in it lets code read or write out of bounds. */
status check_manifest(manifest *manifest, archive *archive, heap *heap, trivium_error *error);

/* carried.c */

/* Check what is carried from run to run, and mark the ports that sessions hold. */
status check_carried(manifest *manifest, const archive *archive, trivium_error *error);

/* machine.c */

/* Return the first machine whose code this CPU can run, by way of `chosen`. */
status choose_machine(const list *machines, const machine **chosen, trivium_error *error);

/* object.c */

typedef struct section {
    const char *name;
    uint64_t size;
    uint64_t alignment;
    bytes data; /* empty where memory starts as zeros */
    uint64_t place;
    bool loaded;
    bool writable;
    bool executable;
} section;

typedef struct symbol {
    const char *name;
    uint64_t value;
    uint32_t section; /* or 0: an address */
    bool local;
    bool weak;
    bool defined;
} symbol;

/* A relocatable object for x86-64; numbers of sections and symbols are those of the file. */
typedef struct object {
    const char *name;
    bytes data;
    section *sections;
    size_t section_count;
    symbol *symbols;
    size_t symbol_count;
    list relocations; /* of relocation */
} object;

typedef struct relocation {
    uint64_t offset;
    int64_t addend;
    uint32_t section;
    uint32_t kind;
    uint32_t symbol;
} relocation;

status read_object(object *object, heap *heap, trivium_error *error);

/* link.c */

typedef struct global {
    const char *name;
    uint64_t address;
    const object *object;
    bool weak;
} global;

/* Linked code; no memory of it is writable and executable at once. */
typedef struct library {
    unsigned char *image;
    size_t size;
    size_t code_bytes; /* at the start of the image */
    global *globals;   /* by name; gone when all functions are found */
    size_t count;
} library;

status link_objects(library *library, object *objects, size_t count, heap *heap,
                    trivium_error *error);

/* Return the address of a function of the library; refuse names that stand for none. */
status find_function(const library *library, const char *name, uintptr_t *address,
                     trivium_error *error);
void unlink_library(library *library);

/* pool.c */

typedef void program_function(int64_t *job, int64_t thread, int64_t run);
typedef void submit_function(int64_t *pool, int64_t *job);
typedef void work_function(int64_t *pool, int64_t thread);
typedef void stop_function(int64_t *pool);

/* The words of a job, as in runtime/cpu/thread_pool.py. */
enum {
    JOB_PROGRAM,
    JOB_BASES,
    JOB_RUN,
    JOB_THREADS,
    JOB_OWN,
    JOB_OWN_BYTES,
    JOB_COUNTERS = 16,
    JOB_PHASE_WORDS = 16
};

/* Threads that run programs besides those that call for it. */
typedef struct pool pool;

/* The functions of a package by which threads share work. */
typedef struct pool_code {
    uintptr_t submit;
    uintptr_t work;
    uintptr_t stop;
} pool_code;

/* Create a pool without threads. */
status pool_create(pool **pool, const pool_code *code, trivium_error *error);

/* Start as many threads as it takes to run on `threads`, the caller's included. */
status pool_grow(pool *pool, unsigned threads, trivium_error *error);
void pool_submit(pool *pool, int64_t *job);

/* Wait until no thread has to do with a job that is not running: it may then be freed. */
void pool_leave(pool *pool, const int64_t *job);
void pool_free(pool *pool);

/* Return on how many CPUs this process may run. */
unsigned cpu_count(void);

/* package.c */

struct trivium_package {
    heap heap;
    bytes file;
    mapping map; /* of the file, where there is one */
    archive archive;
    manifest manifest;
    const char *machine;
    library library;
    pool *pool;
    const void *weights;
    mapping weights_copy; /* where those of the file are not on a cache line */
    mapping prepared;
    const unsigned char *state; /* what state begins with, where that is not zeros */
    trivium_port *inputs;       /* those that are not held by sessions */
    trivium_port *outputs;
    size_t input_count;
    size_t output_count;
    atomic_int references; /* of the one who opened it and of its sessions */
};

/* Let go of a reference to a package, and free it with the last. */
void release_package(trivium_package *package);

/* session.c */

/* Run the load steps of a package once, on one thread. */
status run_load_steps(trivium_package *package, trivium_error *error);

#endif
