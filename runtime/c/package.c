/* Open a package: map its file, check it, link its code, compute its constants. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANIFEST_ENTRY "manifest.json"
#define MOST_MANIFEST (32u << 20)
#define CACHE_LINE 64

static bytes bytes_of(const trivium_package *package, const entry *entry) {
    return (bytes){package->file.data + entry->offset, (size_t)entry->size};
}

static status check_entry(const trivium_package *package, const entry *entry,
                          trivium_error *error) {
    bytes data = bytes_of(package, entry);
    bool same = entry->ranges || has_checksum(data, entry->checksum);
    for (size_t at = 0; same && entry->ranges && at < data.size; at += RANGE) {
        bytes part = {data.data + at, data.size - at < RANGE ? data.size - at : RANGE};
        same = has_checksum(part, entry->ranges[at / RANGE]);
    }
    if (!same)
        return CORRUPT("is corrupt: the checksum of '%.80s' differs", entry->name);
    return TRIVIUM_OK;
}

static status map_file(trivium_package *package, const char *path, trivium_error *error) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return SYSTEM("cannot be read: %s", strerror(errno));
    struct stat about;
    bool known = !fstat(file, &about);
    size_t size = known && about.st_size > 0 ? (size_t)about.st_size : 0;
    void *data = MAP_FAILED;
    if (size && S_ISREG(about.st_mode))
        data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (known && !S_ISREG(about.st_mode))
        return SYSTEM("cannot be read: it is no file");
    if (size && data == MAP_FAILED)
        return SYSTEM("cannot be mapped: %s", strerror(errno));
    if (size)
        package->map = (mapping){data, data, size};
    package->file = (bytes){size ? data : NULL, size};
    return TRIVIUM_OK;
}

static status read_manifest(trivium_package *package, trivium_error *error) {
    TRY(read_archive(&package->archive, package->file, &package->heap, error));
    const entry *found = find_entry(&package->archive, MANIFEST_ENTRY);
    if (!found)
        return CORRUPT("is not a package: it has no '" MANIFEST_ENTRY "'");
    bytes data = bytes_of(package, found);
    if (data.size > MOST_MANIFEST)
        return UNSUPPORTED("has a manifest of %zu bytes, libtrivium reads up to %u", data.size,
                           MOST_MANIFEST);
    if (crc32_of(data) != found->crc)
        return CORRUPT("is corrupt: the checksum of '" MANIFEST_ENTRY "' differs");
    char *text = heap_take(&package->heap, data.size + 1, 1);
    if (!text)
        return SYSTEM("the system has no memory for a manifest of %zu bytes", data.size);
    memcpy(text, data.data, data.size);
    heap nodes = {NULL};
    const json *document;
    status code = parse_json(&document, text, data.size, &nodes, error);
    if (code == TRIVIUM_OK)
        code = decode_manifest(&package->manifest, document, &package->heap, error);
    if (code == TRIVIUM_OK)
        code = check_manifest(&package->manifest, &package->archive, &package->heap, error);
    heap_free(&nodes);
    return code;
}

/* Return whether an entry is code of the threads, or is in the folder of a machine. */
static bool is_code(const char *name, const char *machine) {
    if (!strcmp(name, THREADS_ENTRY))
        return true;
    if (strncmp(name, "cpu/", 4))
        return false;
    size_t length = strlen(machine);
    name += 4;
    if (length && (strncmp(name, machine, length) || name[length] != '/'))
        return false;
    name += length ? length + 1 : 0;
    return !strchr(name, '/');
}

static status read_objects(trivium_package *package, object *objects, size_t *count, heap *heap,
                           trivium_error *error) {
    *count = 0;
    for (size_t i = 0; i < package->archive.count; i++) {
        const entry *each = &package->archive.entries[i];
        if (!is_code(each->name, package->machine))
            continue;
        TRY(check_entry(package, each, error));
        object *object = &objects[(*count)++];
        object->name = each->name;
        object->data = bytes_of(package, each);
        TRY(read_object(object, heap, error));
    }
    return TRIVIUM_OK;
}

static status find_programs(const list *steps, const library *library, trivium_error *error) {
    for (size_t i = 0; i < steps->count; i++) {
        step *each = AT(*steps, step, i);
        TRY(find_function(library, each->symbol, &each->program, error));
    }
    return TRIVIUM_OK;
}

static status link_into(trivium_package *package, heap *heap, trivium_error *error) {
    library *library = &package->library;
    size_t count;
    object *objects = heap_take(heap, package->archive.count, sizeof *objects);
    if (!objects)
        return SYSTEM("the system has no memory for native code");
    TRY(read_objects(package, objects, &count, heap, error));
    TRY(link_objects(library, objects, count, heap, error));
    TRY(find_programs(&package->manifest.load_steps, library, error));
    TRY(find_programs(&package->manifest.steps, library, error));
    pool_code code;
    TRY(find_function(library, "submit", &code.submit, error));
    TRY(find_function(library, "work", &code.work, error));
    TRY(find_function(library, "stop", &code.stop, error));
    return pool_create(&package->pool, &code, error);
}

static status link_code(trivium_package *package, trivium_error *error) {
    const machine *chosen;
    package->machine = "";
    if (!package->manifest.steps.count && !package->manifest.load_steps.count)
        return TRIVIUM_OK;
    if (!find_entry(&package->archive, THREADS_ENTRY))
        return CORRUPT("the package has native code, but no '" THREADS_ENTRY "'");
    TRY(choose_machine(&package->manifest.machines, &chosen, error));
    package->machine = chosen->name;
    heap used = {NULL};
    status code = link_into(package, &used, error);
    heap_free(&used);
    package->library.globals = NULL;
    return code;
}

static status prepare_weights(trivium_package *package, trivium_error *error) {
    const entry *found = find_entry(&package->archive, WEIGHTS_ENTRY);
    if (!found || !found->size)
        return TRIVIUM_OK;
    TRY(check_entry(package, found, error));
    bytes data = bytes_of(package, found);
    package->weights = data.data;
    if ((uintptr_t)data.data % CACHE_LINE) {
        TRY(map_memory(&package->weights_copy, data.size, "its weights", error));
        package->weights = memcpy(package->weights_copy.data, data.data, data.size);
    }
    return TRIVIUM_OK;
}

static status prepare_state(trivium_package *package, trivium_error *error) {
    const entry *found = find_entry(&package->archive, STATE_ENTRY);
    if (!found || !found->size || !package->manifest.carried.count)
        return TRIVIUM_OK;
    package->state = bytes_of(package, found).data;
    return check_entry(package, found, error);
}

/* List the ports that callers give or get. */
static status list_ports(trivium_port **made, size_t *count, const list *ports, heap *heap,
                         trivium_error *error) {
    *made = heap_take(heap, ports->count, sizeof **made);
    if (!*made)
        return SYSTEM("the system has no memory for a manifest");
    for (size_t i = 0; i < ports->count; i++) {
        const port *each = AT(*ports, port, i);
        if (each->held)
            continue;
        (*made)[(*count)++] =
            (trivium_port){.name = each->name,
                           .dtype = each->dtype,
                           .shape = each->shape.items,
                           .rank = each->shape.count,
                           .item_bytes = (size_t)item_bytes(each->dtype),
                           .size_bytes = (size_t)tensor_bytes(&each->shape, each->dtype)};
    }
    return TRIVIUM_OK;
}

static status load(trivium_package *package, trivium_error *error) {
    TRY(read_manifest(package, error));
    heap *heap = &package->heap;
    const manifest *manifest = &package->manifest;
    TRY(list_ports(&package->inputs, &package->input_count, &manifest->inputs, heap, error));
    TRY(list_ports(&package->outputs, &package->output_count, &manifest->outputs, heap, error));
    TRY(link_code(package, error));
    TRY(prepare_weights(package, error));
    TRY(prepare_state(package, error));
    TRY(map_memory(&package->prepared, (uint64_t)manifest->memory.prepared_bytes,
                   "its constants", error));
    return run_load_steps(package, error);
}

/* Open a file, or else what is in memory. */
static status open_package(const char *path, bytes data, trivium_package **made,
                           trivium_error *given) {
    trivium_error unused, *error = given ? given : &unused;
    *error = (trivium_error){TRIVIUM_OK, ""};
    if (!made)
        return ARGUMENT("package is NULL");
    *made = NULL;
    if (!path && !data.data)
        return ARGUMENT("there is neither a path nor data");
    trivium_package *package = calloc(1, sizeof *package);
    if (!package)
        return SYSTEM("the system has no memory for a package");
    atomic_init(&package->references, 1);
    package->file = data;
    status code = path ? map_file(package, path, error) : TRIVIUM_OK;
    if (code == TRIVIUM_OK)
        code = load(package, error);
    if (code == TRIVIUM_OK)
        *made = package;
    else
        release_package(package);
    if (code != TRIVIUM_OK && path)
        prefix_error(error, path);
    return code;
}

trivium_status trivium_open(const char *path, trivium_package **package, trivium_error *error) {
    return open_package(path, (bytes){NULL, 0}, package, error);
}

trivium_status trivium_open_memory(const void *data, size_t size, trivium_package **package,
                                   trivium_error *error) {
    return open_package(NULL, (bytes){data, size}, package, error);
}

void release_package(trivium_package *package) {
    if (atomic_fetch_sub(&package->references, 1) != 1)
        return;
    pool_free(package->pool);
    unlink_library(&package->library);
    unmap_memory(&package->weights_copy);
    unmap_memory(&package->prepared);
    unmap_memory(&package->map);
    heap_free(&package->heap);
    free(package);
}

void trivium_close(trivium_package *package) {
    if (package)
        release_package(package);
}

size_t trivium_input_count(const trivium_package *package) {
    return package->input_count;
}

size_t trivium_output_count(const trivium_package *package) {
    return package->output_count;
}

const trivium_port *trivium_input(const trivium_package *package, size_t number) {
    return number < package->input_count ? &package->inputs[number] : NULL;
}

const trivium_port *trivium_output(const trivium_package *package, size_t number) {
    return number < package->output_count ? &package->outputs[number] : NULL;
}

const char *trivium_machine(const trivium_package *package) {
    return package->machine;
}
