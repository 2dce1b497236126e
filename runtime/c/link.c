/* Link objects with one another and with libc, in memory. */
#include "internal.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The order of sections in memory: code, then constants, then data, each on pages of its own. */
enum { CODE, CONSTANTS, DATA, ORDER };

static int order_of(const section *section) {
    return section->executable ? CODE : section->writable ? DATA : CONSTANTS;
}

static status too_large(uint64_t size, trivium_error *error) {
    return SYSTEM("native code takes %llu bytes, the system has less", (unsigned long long)size);
}

/* Place all sections; `ends` are the bytes up to the end of each kind. */
static status place_sections(object *objects, size_t count, uint64_t ends[ORDER],
                             trivium_error *error) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = 0;
    for (int order = 0; order < ORDER; order++) {
        for (size_t i = 0; i < count; i++) {
            for (size_t j = 0; j < objects[i].section_count; j++) {
                section *each = &objects[i].sections[j];
                if (!each->loaded || order_of(each) != order)
                    continue;
                end = (end + each->alignment - 1) & ~(each->alignment - 1);
                each->place = end;
                if (each->size > (uint64_t)MOST_BYTES || (end += each->size) > (uint64_t)MOST_BYTES)
                    return too_large(each->size, error);
            }
        }
        ends[order] = end = (end + page - 1) & ~(page - 1);
    }
    return TRIVIUM_OK;
}

static uint64_t address_of(const library *library, const object *object, const symbol *symbol) {
    uint64_t base = (uint64_t)(uintptr_t)library->image;
    return symbol->section ? base + object->sections[symbol->section].place + symbol->value
                           : symbol->value;
}

static int by_name(const void *one, const void *two) {
    return strcmp(((const global *)one)->name, ((const global *)two)->name);
}

/* Sort by name, strong definitions first, then by object. */
static int by_strength(const void *one, const void *two) {
    const global *first = one, *second = two;
    int order = by_name(one, two);
    if (order)
        return order;
    if (first->weak != second->weak)
        return first->weak ? 1 : -1;
    return (first->object > second->object) - (first->object < second->object);
}

static status find_globals(library *library, const object *objects, size_t count, heap *heap,
                           trivium_error *error) {
    size_t most = 0, used = 0;
    for (size_t i = 0; i < count; i++)
        most += objects[i].symbol_count;
    library->globals = take_zeroed(heap, most, sizeof(global));
    if (!library->globals)
        return SYSTEM("the system has no memory for the symbols of native code");
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < objects[i].symbol_count; j++) {
            const symbol *each = &objects[i].symbols[j];
            if (!each->local && each->defined)
                library->globals[library->count++] =
                    (global){each->name, address_of(library, &objects[i], each), &objects[i],
                             each->weak};
        }
    qsort(library->globals, library->count, sizeof(global), by_strength);
    for (size_t i = 0; i < library->count; i++) {
        const global *each = &library->globals[i], *before = each - 1;
        if (used && !by_name(each, &library->globals[used - 1])) {
            if (!each->weak && !before->weak)
                return CORRUPT("'%.80s' and '%.80s' both define '%.80s'", before->object->name,
                               each->object->name, each->name);
            continue;
        }
        library->globals[used++] = *each;
    }
    library->count = used;
    return TRIVIUM_OK;
}

static const global *find_global(const library *library, const char *name) {
    global key = {.name = name};
    return bsearch(&key, library->globals, library->count, sizeof(global), by_name);
}

/* What code of packages calls most, known without a dynamic linker: programs may be static. */
static const struct {
    const char *name;
    uintptr_t address;
} CALLED[] = {
    {"memcpy", (uintptr_t)memcpy},           {"memmove", (uintptr_t)memmove},
    {"memset", (uintptr_t)memset},           {"sched_yield", (uintptr_t)sched_yield},
    {"syscall", (uintptr_t)syscall},         {"clock_gettime", (uintptr_t)clock_gettime},
    {"sched_getcpu", (uintptr_t)sched_getcpu},
    {"sched_getaffinity", (uintptr_t)sched_getaffinity},
    {"sched_setaffinity", (uintptr_t)sched_setaffinity},
};

/* Return the address of what the code generator may call: libc, libm, the compiler's own. */
static uint64_t system_address(const char *name) {
    static const char *const libraries[] = {NULL, "libm.so.6", "libgcc_s.so.1"};
    for (size_t i = 0; i < COUNT(CALLED); i++)
        if (!strcmp(CALLED[i].name, name))
            return CALLED[i].address;
    for (size_t i = 0; i < COUNT(libraries); i++) {
        void *handle = dlopen(libraries[i], RTLD_LAZY); /* stays: code refers to it */
        void *found = handle ? dlsym(handle, name) : NULL;
        if (found)
            return (uint64_t)(uintptr_t)found;
    }
    return 0;
}

static status resolve(uint64_t *address, const library *library, const object *object,
                      const symbol *symbol, trivium_error *error) {
    if (symbol->defined && symbol->local) {
        *address = address_of(library, object, symbol);
        return TRIVIUM_OK;
    }
    const global *found = find_global(library, symbol->name);
    *address = found ? found->address : 0;
    if (!*address)
        *address = *symbol->name ? system_address(symbol->name) : 0;
    if (!*address && !symbol->weak)
        return CORRUPT("'%.80s' needs '%.80s', which neither the package nor the C library "
                       "defines", object->name, symbol->name);
    return TRIVIUM_OK;
}

typedef struct form {
    uint32_t kind;
    const char *name;
    uint64_t size;
    bool relative;
    bool is_signed;
} form;

static const form FORMS[] = {
    {1, "R_X86_64_64", 8, false, false},  {2, "R_X86_64_PC32", 4, true, true},
    {4, "R_X86_64_PLT32", 4, true, true}, {10, "R_X86_64_32", 4, false, false},
    {11, "R_X86_64_32S", 4, false, true}, {24, "R_X86_64_PC64", 8, true, true},
};

static status relocate(library *library, const object *object, const relocation *relocation,
                       trivium_error *error) {
    const form *form = NULL;
    for (size_t i = 0; i < COUNT(FORMS); i++)
        form = FORMS[i].kind == relocation->kind ? &FORMS[i] : form;
    if (!form)
        return CORRUPT("'%.80s' has a relocation of type %u, which is none of the kinds that "
                       "Trivium generates", object->name, relocation->kind);
    const section *section = &object->sections[relocation->section];
    if (section->size < form->size || relocation->offset > section->size - form->size)
        return CORRUPT("'%.80s' is corrupt: it relocates past '%.40s'", object->name,
                       section->name);
    const symbol *symbol = &object->symbols[relocation->symbol];
    unsigned char *place = library->image + section->place + relocation->offset;
    uint64_t value;
    TRY(resolve(&value, library, object, symbol, error));
    value += (uint64_t)relocation->addend;
    if (form->relative)
        value -= (uint64_t)(uintptr_t)place;
    uint64_t biased = form->is_signed ? value + (UINT64_C(1) << 31) : value;
    if (form->size == 4 && biased > UINT32_MAX)
        return CORRUPT("'%.80s' reaches '%.80s' by %s, which is too short for its distance: "
                       "compile it with the large code model", object->name, symbol->name,
                       form->name);
    memcpy(place, &value, (size_t)form->size);
    return TRIVIUM_OK;
}

static status protect(unsigned char *start, uint64_t size, int protection, trivium_error *error) {
    if (size && mprotect(start, (size_t)size, protection))
        return SYSTEM("the system forbids native code made at run time");
    return TRIVIUM_OK;
}

status link_objects(library *library, object *objects, size_t count, heap *heap,
                    trivium_error *error) {
    uint64_t ends[ORDER];
    TRY(place_sections(objects, count, ends, error));
    size_t size = ends[DATA] ? (size_t)ends[DATA] : (size_t)sysconf(_SC_PAGESIZE);
    void *image = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (image == MAP_FAILED)
        return too_large(size, error);
    library->image = image;
    library->size = size;
    library->code_bytes = (size_t)ends[CODE];
    TRY(find_globals(library, objects, count, heap, error));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < objects[i].section_count; j++) {
            const section *each = &objects[i].sections[j];
            if (each->loaded && each->data.size)
                memcpy(library->image + each->place, each->data.data, each->data.size);
        }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < objects[i].relocations.count; j++)
            TRY(relocate(library, &objects[i], AT(objects[i].relocations, relocation, j), error));
    TRY(protect(library->image, ends[CODE], PROT_READ | PROT_EXEC, error));
    return protect(library->image + ends[CODE], ends[CONSTANTS] - ends[CODE], PROT_READ, error);
}

status find_function(const library *library, const char *name, uintptr_t *address,
                     trivium_error *error) {
    const global *found = find_global(library, name);
    if (!found)
        return CORRUPT("no object defines '%.80s'", name);
    if (found->address - (uint64_t)(uintptr_t)library->image >= library->code_bytes)
        return CORRUPT("'%.80s' defines '%.80s', which is no function", found->object->name, name);
    *address = (uintptr_t)found->address;
    return TRIVIUM_OK;
}

void unlink_library(library *library) {
    if (library->image)
        munmap(library->image, library->size);
    library->image = NULL;
}
