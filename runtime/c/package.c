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

static bytes bytes_of(const entry *entry) {
    return (bytes){entry->data, (size_t)entry->size};
}

static status check_entry(const entry *entry, trivium_error *error) {
    const listed_entry *listed = entry->listed;
    bytes all = bytes_of(entry);
    bool equal = listed->ranges.count || has_checksum(all, listed->checksum);
    for (size_t i = 0; equal && i < listed->ranges.count; i++) {
        size_t start = i * (size_t)RANGE, left = all.size - start;
        bytes part = {all.data + start, left < (size_t)RANGE ? left : (size_t)RANGE};
        equal = has_checksum(part, *AT(listed->ranges, const char *, i));
    }
    if (!equal)
        return CORRUPT("is corrupt: the checksum of '%.80s' differs", entry->name);
    return TRIVIUM_OK;
}

static status map_file(mapping *map, const char *path, trivium_error *error) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
        *map = (mapping){data, data, size};
    return TRIVIUM_OK;
}

/* Find the file beside a package, in its folder: no link leads out of that. */
static status path_beside(char **found, const char *path, const char *name, heap *heap,
                          trivium_error *error) {
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0, length = strlen(name);
    char *beside = take_zeroed(heap, folder + length + 1, 1);
    if (!beside)
        return SYSTEM("the system has no memory for the name of a file");
    memcpy(beside, path, folder);
    memcpy(beside + folder, name, length);
    char *real = realpath(beside, NULL), *package = realpath(path, NULL);
    beside[folder] = 0;
    char *inside = realpath(folder ? beside : ".", NULL);
    memcpy(beside + folder, name, length);
    size_t size = inside ? strlen(inside) : 0;
    bool is_there = real && inside && package;
    bool leads_out = is_there && (strncmp(real, inside, size) || (size > 1 && real[size] != '/'));
    bool is_package = is_there && !strcmp(real, package);
    free(real);
    free(inside);
    free(package);
    if (!is_there)
        return SYSTEM("needs file '%.80s' beside it, which cannot be read", name);
    if (leads_out || is_package)
        return CORRUPT("names file '%.80s', which is %s", name,
                       leads_out ? "led out of its folder by a link" : "the package itself");
    *found = beside;
    return TRIVIUM_OK;
}

/* Add the entries that are in a file beside the package to those in it. */
static status add_beside(trivium_package *package, const char *path, trivium_error *error) {
    const list *listed = &package->manifest.entries;
    const char *name = NULL;
    int64_t wanted = 0;
    entry *all = take_zeroed(&package->heap, package->archive.count + listed->count, sizeof *all);
    if (!all)
        return SYSTEM("the system has no memory for a list of entries");
    memcpy(all, package->archive.entries, package->archive.count * sizeof *all);
    package->archive.entries = all;
    for (size_t i = 0; i < listed->count; i++) {
        const listed_entry *each = AT(*listed, listed_entry, i);
        if (!each->file || !*each->file)
            continue;
        if (name && strcmp(name, each->file))
            return UNSUPPORTED("the package has entries in files '%.80s' and '%.80s', libtrivium "
                               "reads one", name, each->file);
        name = each->file;
        if (!is_name((bytes){(const unsigned char *)name, strlen(name)}))
            return CORRUPT("manifest: '%.80s' must name a file in the folder of the package", name);
        if (each->offset < 0 || each->size < 0 || each->offset > MOST_BYTES - each->size)
            return CORRUPT("manifest: entry '%.80s' is at offset %lld", each->name,
                           (long long)each->offset);
        if (wanted < each->offset + each->size)
            wanted = each->offset + each->size;
        all[package->archive.count++] =
            (entry){.name = each->name, .size = (uint64_t)each->size,
                    .offset = (uint64_t)each->offset};
    }
    if (!name)
        return TRIVIUM_OK;
    char *beside;
    if (!path)
        return CORRUPT("needs file '%.80s' beside it: open the package by its path", name);
    TRY(path_beside(&beside, path, name, &package->heap, error));
    TRY(map_file(&package->beside, beside, error));
    if (package->beside.mapped != (size_t)wanted)
        return CORRUPT("needs file '%.80s' of %lld bytes beside it, which has %zu: take the one "
                       "that was saved with it", name, (long long)wanted, package->beside.mapped);
    for (size_t i = 0; i < package->archive.count; i++)
        if (!all[i].data)
            all[i].data = (const unsigned char *)package->beside.data + all[i].offset;
    return sort_archive(&package->archive, error);
}

static status read_manifest(trivium_package *package, const char *path, trivium_error *error) {
    TRY(read_archive(&package->archive, package->file, &package->heap, error));
    const entry *found = find_entry(&package->archive, MANIFEST_ENTRY);
    if (!found)
        return CORRUPT("is not a package: it has no '" MANIFEST_ENTRY "'");
    bytes data = bytes_of(found);
    if (data.size > MOST_MANIFEST)
        return UNSUPPORTED("has a manifest of %zu bytes, libtrivium reads up to %u", data.size,
                           MOST_MANIFEST);
    if (crc32_of(data) != found->crc)
        return CORRUPT("is corrupt: the checksum of '" MANIFEST_ENTRY "' differs");
    char *text = take_zeroed(&package->heap, data.size + 1, 1);
    if (!text)
        return SYSTEM("the system has no memory for a manifest of %zu bytes", data.size);
    memcpy(text, data.data, data.size);
    heap nodes = {NULL};
    const json *document;
    status code = parse_json(&document, text, data.size, &nodes, error);
    if (code == TRIVIUM_OK)
        code = decode_manifest(&package->manifest, document, &package->heap, error);
    if (code == TRIVIUM_OK)
        code = add_beside(package, path, error);
    if (code == TRIVIUM_OK)
        code = check_manifest(&package->manifest, &package->archive, &package->heap, error);
    free_heap(&nodes);
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
        TRY(check_entry(each, error));
        object *object = &objects[(*count)++];
        object->name = each->name;
        object->data = bytes_of(each);
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
    object *objects = take_zeroed(heap, package->archive.count, sizeof *objects);
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
    return create_pool(&package->pool, &code, error);
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
    free_heap(&used);
    package->library.globals = NULL;
    return code;
}

static status prepare_weights(trivium_package *package, trivium_error *error) {
    const entry *found = find_entry(&package->archive, WEIGHTS_ENTRY);
    if (!found || !found->size)
        return TRIVIUM_OK;
    TRY(check_entry(found, error));
    bytes data = bytes_of(found);
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
    package->state = bytes_of(found).data;
    return check_entry(found, error);
}

/* List the ports that callers give or get. */
static status list_ports(trivium_port **made, size_t *count, const list *ports, heap *heap,
                         trivium_error *error) {
    *made = take_zeroed(heap, ports->count, sizeof **made);
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

static status load(trivium_package *package, const char *path, trivium_error *error) {
    TRY(read_manifest(package, path, error));
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
    status code = path ? map_file(&package->map, path, error) : TRIVIUM_OK;
    if (path)
        package->file = (bytes){package->map.data, package->map.mapped};
    if (code == TRIVIUM_OK)
        code = load(package, path, error);
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
    free_pool(package->pool);
    unlink_library(&package->library);
    unmap_memory(&package->weights_copy);
    unmap_memory(&package->prepared);
    unmap_memory(&package->beside);
    unmap_memory(&package->map);
    free_heap(&package->heap);
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
