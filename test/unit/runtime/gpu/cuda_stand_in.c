/* A stand-in for the driver of CUDA: tests run the host's side of a package without a GPU.

   Memory of the "device" is malloc'd between guards. Every copy and every launch is checked: bounds,
   handles, contexts, what a capture allows. What happens is written to a log, one JSON object a
   line. Kernels are executed by a callback, if there is one: see stand_in.py. */

#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;
typedef uint64_t Address;
typedef void (*Callback)(const char *image, size_t size, const char *kernel, void **arguments,
                         const uint32_t *grid);

enum { OK, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_IMAGE = 200,
       INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500, CAPTURE_UNSUPPORTED = 900,
       CAPTURE_INVALIDATED = 901, FIRST_STICKY = 700, LAST_STICKY = 719 };
enum { GUARD = 64, ALIGNMENT = 512, ARGUMENTS = 64, BYTES = 1 << 14 };
static const unsigned char GUARD_BYTE = 0xa5;

/* -- what there is ----------------------------------------------------------------------------- */

typedef enum { CONTEXT = 1, STREAM, EVENT, MODULE, FUNCTION, GRAPH, EXECUTABLE } Kind;
typedef enum { LAUNCH, COPY, CLEAR } What;

typedef struct Object Object;
typedef struct Node Node;

struct Node {
  What what;
  Object *function;
  uint32_t grid[3];
  int described;          /* its arguments are known */
  unsigned char bytes[BYTES];
  void *arguments[ARGUMENTS];
  Address target, source;
  size_t size;
  Node *next;
};

struct Object {
  Kind kind;
  int live, number;
  int device;             /* of a context: its GPU */
  Object *capture;        /* of a stream: the graph it records to */
  int invalid;            /* of a stream: its capture failed */
  Node *first, *last;     /* of a graph */
  char *image;            /* of a module */
  size_t size;
  Object *module;         /* of a function */
  char name[256];
  int shared;             /* of a function: how much it may ask for */
  int timed, reached;     /* of an event */
  double time;
};

typedef struct Allocation {
  char *data;
  size_t size;
  int device, number;
  struct Allocation *next;
} Allocation;

typedef struct Description {
  char *image;
  size_t size;
  char name[256], parameters[1024];
  struct Description *next;
} Description;

typedef struct Failure {
  char function[128];
  int countdown, code;
  struct Failure *next;
} Failure;

static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static Allocation *allocations;
static Description *descriptions;
static Failure *failures;
static Callback callback;
static FILE *log_file;
static size_t memory = (size_t)1 << 30, used;
static int version = 13000, architecture = 90, devices = 1, most_shared = 232448;
static int objects_live, objects_made, misuses, sticky, configured;
static double microseconds; /* that kernels have taken so far, as tests say */
static int retained[16];
static Object *contexts[16];
static __thread Object *current[64];
static __thread int depth;

static void record(const char *format, ...) {
  if (!log_file) return;
  va_list rest;
  va_start(rest, format);
  vfprintf(log_file, format, rest);
  va_end(rest);
  fputc('\n', log_file);
  fflush(log_file);
}

static Result misuse(Result code, const char *function, const char *what) {
  misuses++;
  record("{\"misuse\": \"%s\", \"function\": \"%s\"}", what, function);
  return code;
}

/* Words such as: log=/tmp/x memory=1000 driver=12000 architecture=80 devices=2 shared=1000
   fail=cuMemAlloc_v2:2:2 (the second call gives error 2) fail=kernel.add:1:700 */
void stand_in_configure(const char *words) {
  char *copy = strdup(words), *state = NULL;
  configured = 1;
  for (char *word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
    char *value = strchr(word, '=');
    if (!value) continue;
    *value++ = 0;
    if (!strcmp(word, "log")) log_file = fopen(value, "a");
    else if (!strcmp(word, "memory")) memory = strtoull(value, NULL, 10);
    else if (!strcmp(word, "driver")) version = atoi(value);
    else if (!strcmp(word, "architecture")) architecture = atoi(value);
    else if (!strcmp(word, "devices")) devices = atoi(value);
    else if (!strcmp(word, "shared")) most_shared = atoi(value);
    else if (!strcmp(word, "fail")) {
      Failure *made = calloc(1, sizeof *made);
      if (sscanf(value, "%127[^:]:%d:%d", made->function, &made->countdown, &made->code) == 3) {
        made->next = failures;
        failures = made;
      } else abort();
    } else abort();
  }
  free(copy);
}

static void configure(void) {
  if (!configured) stand_in_configure(getenv("STAND_IN") ? getenv("STAND_IN") : "");
}

/* Return the error that a test wants of this call, if any; some last until the process ends. */
static Result failing(const char *function) {
  for (Failure *each = failures; each; each = each->next)
    if (!strcmp(each->function, function) && each->countdown > 0 && !--each->countdown) {
      record("{\"failed\": \"%s\", \"code\": %d}", function, each->code);
      if (each->code >= FIRST_STICKY && each->code <= LAST_STICKY) sticky = each->code;
      return each->code;
    }
  return OK;
}

static void leave(int *unused) { pthread_mutex_unlock(&mutex); }

/* Hold the mutex until the function returns; fail where a test wants that. */
#define ENTER_ANYWAY(name)                                                                       \
  pthread_mutex_lock(&mutex);                                                                    \
  configure();                                                                                   \
  __attribute__((cleanup(leave))) int failed = failing(name);                                    \
  if (failed) return failed;
#define ENTER(name)                                                                              \
  ENTER_ANYWAY(name)                                                                             \
  if (sticky) return sticky;
#define NEED_CONTEXT(name)                                                                       \
  if (!depth || !current[depth - 1]) return misuse(INVALID_CONTEXT, name, "no current context");

static Object *make(Kind kind) {
  Object *object = calloc(1, sizeof *object);
  object->kind = kind;
  object->live = 1;
  object->number = ++objects_made;
  if (kind != FUNCTION && kind != CONTEXT) objects_live++;
  return object;
}

static int is(Object *object, Kind kind) { return object && object->live && object->kind == kind; }

/* Objects are never freed, so that their use afterwards shows. */
static Result destroy(Object *object, Kind kind, const char *function) {
  if (!is(object, kind)) return misuse(INVALID_HANDLE, function, "destroys what is not there");
  object->live = 0;
  objects_live--;
  record("{\"call\": \"%s\", \"object\": %d}", function, object->number);
  return OK;
}

/* -- for tests --------------------------------------------------------------------------------- */

int stand_in_live(void) {
  int count = objects_live;
  for (Allocation *each = allocations; each; each = each->next) count++;
  for (int i = 0; i < 16; i++) count += retained[i];
  return count;
}
int stand_in_misuses(void) { return misuses; }
void stand_in_set_callback(Callback function) { callback = function; }

/* Let time pass; a kernel that is executed takes what its callback spends. */
void stand_in_spend(double us) { microseconds += us; }

/* Say what a kernel of a module takes: "p128 t2 p0" is a pointer to so many bytes, a map of so many
   axes, a pointer to nobody knows what. Only such kernels are checked and executed. */
void stand_in_describe(const char *image, size_t size, const char *kernel, const char *parameters) {
  Description *made = calloc(1, sizeof *made);
  made->image = memcpy(malloc(size), image, size);
  made->size = size;
  snprintf(made->name, sizeof made->name, "%s", kernel);
  snprintf(made->parameters, sizeof made->parameters, "%s", parameters);
  made->next = descriptions;
  descriptions = made;
}

static Description *description_of(Object *function) {
  Object *module = function->module;
  for (Description *each = descriptions; each; each = each->next)
    if (!strcmp(each->name, function->name) && each->size == module->size &&
        !memcmp(each->image, module->image, module->size))
      return each;
  return NULL;
}

/* -- memory ------------------------------------------------------------------------------------ */

static Allocation *allocation_of(Address address, size_t size) {
  for (Allocation *each = allocations; each; each = each->next) {
    Address start = (Address)each->data;
    if (address >= start && address + size <= start + each->size && address + size >= address)
      return each;
  }
  return NULL;
}

Result cuMemAlloc_v2(Address *address, size_t size) {
  ENTER("cuMemAlloc_v2") NEED_CONTEXT("cuMemAlloc_v2")
  if (!size) return misuse(INVALID_VALUE, "cuMemAlloc_v2", "allocates nothing");
  if (used + size > memory) return OUT_OF_MEMORY;
  Allocation *made = calloc(1, sizeof *made);
  char *block;
  if (posix_memalign((void **)&block, ALIGNMENT, size + ALIGNMENT + GUARD)) return OUT_OF_MEMORY;
  memset(block, GUARD_BYTE, size + ALIGNMENT + GUARD);
  made->data = block + ALIGNMENT;
  made->size = size;
  made->device = current[depth - 1]->device;
  made->number = ++objects_made;
  made->next = allocations;
  allocations = made;
  used += size;
  *address = (Address)made->data;
  record("{\"call\": \"cuMemAlloc\", \"size\": %zu, \"object\": %d, \"address\": %llu}", size,
         made->number, (unsigned long long)*address);
  return OK;
}

Result cuMemFree_v2(Address address) {
  ENTER("cuMemFree_v2") NEED_CONTEXT("cuMemFree_v2")
  for (Allocation **link = &allocations; *link; link = &(*link)->next) {
    Allocation *found = *link;
    if ((Address)found->data != address) continue;
    for (int i = 0; i < GUARD; i++)
      if ((unsigned char)found->data[found->size + i] != GUARD_BYTE ||
          (unsigned char)found->data[-1 - i] != GUARD_BYTE) {
        misuse(OK, "cuMemFree_v2", "memory was written out of bounds");
        break;
      }
    *link = found->next;
    used -= found->size;
    record("{\"call\": \"cuMemFree\", \"object\": %d}", found->number);
    free(found->data - ALIGNMENT);
    free(found);
    return OK;
  }
  return misuse(INVALID_VALUE, "cuMemFree_v2", "frees what is not allocated");
}

Result cuMemGetInfo_v2(size_t *available, size_t *total) {
  ENTER("cuMemGetInfo_v2") NEED_CONTEXT("cuMemGetInfo_v2")
  *available = memory - used;
  *total = memory;
  return OK;
}

Result cuPointerGetAttribute(void *value, int attribute, Address address) {
  ENTER("cuPointerGetAttribute") NEED_CONTEXT("cuPointerGetAttribute")
  Allocation *found = allocation_of(address, 1);
  if (!found || attribute != 9) return INVALID_VALUE;
  *(int *)value = found->device;
  return OK;
}

/* -- graphs ------------------------------------------------------------------------------------ */

static Result run_node(Node *node) {
  if (node->what == LAUNCH) {
    char name[300];
    snprintf(name, sizeof name, "kernel.%s", node->function->name);
    record("{\"run\": \"%s\"}", node->function->name);
    Object *module = node->function->module;
    /* What fails shows when somebody waits; what nobody described is not executed. */
    if (!failing(name) && callback && node->described)
      callback(module->image, module->size, node->function->name, node->arguments, node->grid);
    return OK;
  }
  if (!allocation_of(node->target, node->size))
    return misuse(INVALID_VALUE, "graph", "writes out of bounds");
  if (node->what == CLEAR) memset((void *)node->target, 0, node->size);
  else memcpy((void *)node->target, (void *)node->source, node->size);
  return OK;
}

static Result add_or_run(Object *stream, Node *node) {
  if (!stream || !stream->capture) {
    Result code = run_node(node);
    free(node);
    return code;
  }
  Object *graph = stream->capture;
  if (graph->last) graph->last->next = node;
  else graph->first = node;
  graph->last = node;
  return OK;
}

/* The default streams have no object: 0, 1 and 2. */
static int stream_ok(Object *stream) { return (uintptr_t)stream <= 2 || is(stream, STREAM); }
static Object *own(Object *stream) { return (uintptr_t)stream <= 2 ? NULL : stream; }

Result cuStreamBeginCapture_v2(Object *stream, int mode) {
  ENTER("cuStreamBeginCapture_v2") NEED_CONTEXT("cuStreamBeginCapture_v2")
  if (!is(stream, STREAM) || stream->capture)
    return misuse(INVALID_VALUE, "cuStreamBeginCapture_v2", "no stream, or one that records");
  stream->capture = make(GRAPH);
  stream->invalid = 0;
  record("{\"call\": \"cuStreamBeginCapture\", \"mode\": %d}", mode);
  return OK;
}

Result cuStreamEndCapture(Object *stream, Object **graph) {
  ENTER("cuStreamEndCapture") NEED_CONTEXT("cuStreamEndCapture")
  if (!is(stream, STREAM) || !stream->capture)
    return misuse(INVALID_VALUE, "cuStreamEndCapture", "does not record");
  *graph = stream->capture;
  stream->capture = NULL;
  if (stream->invalid) {
    destroy(*graph, GRAPH, "cuGraphDestroy");
    *graph = NULL;
    return CAPTURE_INVALIDATED;
  }
  record("{\"call\": \"cuStreamEndCapture\", \"graph\": %d}", (*graph)->number);
  return OK;
}

Result cuGraphInstantiateWithFlags(Object **executable, Object *graph, uint64_t flags) {
  ENTER("cuGraphInstantiateWithFlags") NEED_CONTEXT("cuGraphInstantiateWithFlags")
  if (!is(graph, GRAPH)) return misuse(INVALID_HANDLE, "cuGraphInstantiateWithFlags", "no graph");
  *executable = make(EXECUTABLE);
  (*executable)->first = graph->first;
  int nodes = 0;
  for (Node *node = graph->first; node; node = node->next) nodes++;
  record("{\"call\": \"cuGraphInstantiate\", \"object\": %d, \"nodes\": %d}",
         (*executable)->number, nodes);
  return OK;
}

Result cuGraphLaunch(Object *executable, Object *stream) {
  ENTER("cuGraphLaunch") NEED_CONTEXT("cuGraphLaunch")
  if (!is(executable, EXECUTABLE) || !stream_ok(stream))
    return misuse(INVALID_HANDLE, "cuGraphLaunch", "no graph or no stream");
  record("{\"call\": \"cuGraphLaunch\", \"object\": %d}", executable->number);
  for (Node *node = executable->first; node; node = node->next) {
    Result code = run_node(node);
    if (code) return code;
  }
  return OK;
}

Result cuGraphDestroy(Object *graph) {
  ENTER("cuGraphDestroy") return destroy(graph, GRAPH, "cuGraphDestroy");
}
Result cuGraphExecDestroy(Object *executable) {
  ENTER("cuGraphExecDestroy") return destroy(executable, EXECUTABLE, "cuGraphExecDestroy");
}

/* -- copies ------------------------------------------------------------------------------------ */

static Result moved(const char *name, Object *stream, Address target, Address source, size_t size,
                    int to_device, int from_device) {
  if (!stream_ok(stream)) return misuse(INVALID_HANDLE, name, "no stream");
  if (!size) return misuse(OK, name, "copies nothing");
  if (to_device && !allocation_of(target, size))
    return misuse(INVALID_VALUE, name, "writes out of bounds");
  if (from_device && !allocation_of(source, size))
    return misuse(INVALID_VALUE, name, "reads out of bounds");
  if ((!to_device && allocation_of(target, 1)) || (!from_device && allocation_of(source, 1)))
    return misuse(INVALID_VALUE, name, "takes an address of the device for one of the host");
  int recorded = own(stream) && stream->capture;
  if (recorded && !(to_device && from_device)) {
    stream->invalid = 1;
    return misuse(CAPTURE_UNSUPPORTED, name, "copies from or to the host in a graph");
  }
  record("{\"call\": \"%s\", \"size\": %zu, \"captured\": %s}", name, size,
         recorded ? "true" : "false");
  Node *node = calloc(1, sizeof *node);
  node->what = COPY;
  node->target = target;
  node->source = source;
  node->size = size;
  if (recorded) return add_or_run(stream, node);
  memmove((void *)target, (void *)source, size);
  free(node);
  return OK;
}

Result cuMemcpyHtoDAsync_v2(Address target, void *source, size_t size, Object *stream) {
  ENTER("cuMemcpyHtoDAsync_v2") NEED_CONTEXT("cuMemcpyHtoDAsync_v2")
  return moved("cuMemcpyHtoDAsync", stream, target, (Address)source, size, 1, 0);
}
Result cuMemcpyDtoHAsync_v2(void *target, Address source, size_t size, Object *stream) {
  ENTER("cuMemcpyDtoHAsync_v2") NEED_CONTEXT("cuMemcpyDtoHAsync_v2")
  return moved("cuMemcpyDtoHAsync", stream, (Address)target, source, size, 0, 1);
}
Result cuMemcpyDtoDAsync_v2(Address target, Address source, size_t size, Object *stream) {
  ENTER("cuMemcpyDtoDAsync_v2") NEED_CONTEXT("cuMemcpyDtoDAsync_v2")
  return moved("cuMemcpyDtoDAsync", stream, target, source, size, 1, 1);
}

Result cuMemsetD8Async(Address target, unsigned char value, size_t size, Object *stream) {
  ENTER("cuMemsetD8Async") NEED_CONTEXT("cuMemsetD8Async")
  if (!stream_ok(stream) || value || !allocation_of(target, size))
    return misuse(INVALID_VALUE, "cuMemsetD8Async", "clears out of bounds");
  Node *node = calloc(1, sizeof *node);
  node->what = CLEAR;
  node->target = target;
  node->size = size;
  record("{\"call\": \"cuMemsetD8Async\", \"size\": %zu}", size);
  return add_or_run(own(stream), node);
}

/* -- streams and events ------------------------------------------------------------------------ */

Result cuStreamCreate(Object **stream, unsigned flags) {
  ENTER("cuStreamCreate") NEED_CONTEXT("cuStreamCreate")
  *stream = make(STREAM);
  record("{\"call\": \"cuStreamCreate\", \"flags\": %u, \"object\": %d}", flags,
         (*stream)->number);
  return OK;
}
Result cuStreamDestroy_v2(Object *stream) {
  ENTER("cuStreamDestroy_v2") return destroy(stream, STREAM, "cuStreamDestroy");
}
Result cuStreamSynchronize(Object *stream) {
  ENTER("cuStreamSynchronize") NEED_CONTEXT("cuStreamSynchronize")
  if (!stream_ok(stream)) return misuse(INVALID_HANDLE, "cuStreamSynchronize", "no stream");
  if (own(stream) && stream->capture) {
    stream->invalid = 1;
    return misuse(CAPTURE_UNSUPPORTED, "cuStreamSynchronize", "waits for a stream that records");
  }
  record("{\"call\": \"cuStreamSynchronize\"}");
  return OK;
}
Result cuEventCreate(Object **event, unsigned flags) {
  ENTER("cuEventCreate") NEED_CONTEXT("cuEventCreate")
  *event = make(EVENT);
  (*event)->timed = !(flags & 2);
  return OK;
}
Result cuEventDestroy_v2(Object *event) {
  ENTER("cuEventDestroy_v2") return destroy(event, EVENT, "cuEventDestroy");
}
Result cuEventRecord(Object *event, Object *stream) {
  ENTER("cuEventRecord") NEED_CONTEXT("cuEventRecord")
  if (!is(event, EVENT) || !stream_ok(stream))
    return misuse(INVALID_HANDLE, "cuEventRecord", "no event or no stream");
  event->reached = 1;
  event->time = microseconds;
  record("{\"call\": \"cuEventRecord\", \"stream\": %d}",
         own(stream) ? stream->number : -(int)(uintptr_t)stream);
  return OK;
}
Result cuEventElapsedTime(float *milliseconds, Object *start, Object *end) {
  ENTER("cuEventElapsedTime") NEED_CONTEXT("cuEventElapsedTime")
  if (!is(start, EVENT) || !is(end, EVENT) || !start->timed || !end->timed)
    return misuse(INVALID_HANDLE, "cuEventElapsedTime", "no events with times");
  if (!start->reached || !end->reached)
    return misuse(INVALID_HANDLE, "cuEventElapsedTime", "an event was not recorded");
  *milliseconds = (end->time - start->time) / 1000;
  return OK;
}
Result cuStreamWaitEvent(Object *stream, Object *event, unsigned flags) {
  ENTER("cuStreamWaitEvent") NEED_CONTEXT("cuStreamWaitEvent")
  if (!is(event, EVENT) || !stream_ok(stream))
    return misuse(INVALID_HANDLE, "cuStreamWaitEvent", "no event or no stream");
  record("{\"call\": \"cuStreamWaitEvent\", \"stream\": %d}",
         own(stream) ? stream->number : -(int)(uintptr_t)stream);
  return OK;
}

/* -- kernels ----------------------------------------------------------------------------------- */

Result cuModuleLoadData(Object **module, const char *image) {
  ENTER("cuModuleLoadData") NEED_CONTEXT("cuModuleLoadData")
  if (memcmp(image, "\x7f" "ELF", 4))
    return misuse(INVALID_IMAGE, "cuModuleLoadData", "is not an ELF file");
  uint64_t sections = *(uint64_t *)(image + 40);
  uint16_t size = *(uint16_t *)(image + 58), count = *(uint16_t *)(image + 60);
  *module = make(MODULE);
  (*module)->size = sections + (uint64_t)size * count;
  (*module)->image = malloc((*module)->size);
  memcpy((*module)->image, image, (*module)->size);
  record("{\"call\": \"cuModuleLoadData\", \"object\": %d, \"size\": %zu}", (*module)->number,
         (*module)->size);
  return OK;
}
Result cuModuleUnload(Object *module) {
  ENTER("cuModuleUnload") return destroy(module, MODULE, "cuModuleUnload");
}
Result cuModuleGetFunction(Object **function, Object *module, const char *name) {
  ENTER("cuModuleGetFunction") NEED_CONTEXT("cuModuleGetFunction")
  if (!is(module, MODULE)) return misuse(INVALID_HANDLE, "cuModuleGetFunction", "no module");
  char wanted[300] = {0};
  snprintf(wanted + 1, sizeof wanted - 1, "%s", name);
  if (!memmem(module->image, module->size, wanted, strlen(name) + 2)) return NOT_FOUND;
  *function = make(FUNCTION);
  (*function)->module = module;
  (*function)->shared = 48 << 10;
  snprintf((*function)->name, sizeof (*function)->name, "%s", name);
  return OK;
}
Result cuFuncGetAttribute(int *value, int attribute, Object *function) {
  ENTER("cuFuncGetAttribute") NEED_CONTEXT("cuFuncGetAttribute")
  if (!is(function, FUNCTION)) return misuse(INVALID_HANDLE, "cuFuncGetAttribute", "no function");
  *value = attribute ? 0 : 1024;
  return OK;
}
Result cuFuncSetAttribute(Object *function, int attribute, int value) {
  ENTER("cuFuncSetAttribute") NEED_CONTEXT("cuFuncSetAttribute")
  if (!is(function, FUNCTION)) return misuse(INVALID_HANDLE, "cuFuncSetAttribute", "no function");
  if (attribute != 8 || value > most_shared) return INVALID_VALUE;
  function->shared = value;
  record("{\"call\": \"cuFuncSetAttribute\", \"kernel\": \"%s\", \"shared\": %d}", function->name,
         value);
  return OK;
}

/* What a map holds here; the driver has its own, which nobody may look into. */
typedef struct {
  Address address;
  uint32_t rank, dtype;
  uint64_t shape[5], strides[4]; /* from the innermost, strides in bytes */
  uint16_t block[5];
  uint8_t swizzle;
} Map;
_Static_assert(sizeof(Map) <= 128, "a map has 128 bytes");

static const size_t WIDTHS[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
static const size_t SWIZZLED[] = {SIZE_MAX, 32, 64, 128};

Result cuTensorMapEncodeTiled(void *map, int dtype, uint32_t rank, void *address,
                              const uint64_t *shape, const uint64_t *strides,
                              const uint32_t *block, const uint32_t *steps, int interleave,
                              int swizzle, int promotion, int fill) {
  ENTER("cuTensorMapEncodeTiled")
  const char *name = "cuTensorMapEncodeTiled";
  if ((uintptr_t)map % 64 || (uintptr_t)address % 16 || rank < 1 || rank > 5 || dtype < 0 ||
      dtype > 12 || interleave || swizzle < 0 || swizzle > 3 || fill)
    return misuse(INVALID_VALUE, name, "alignment, rank or type");
  size_t width = WIDTHS[dtype], end = width;
  Map made = {(Address)address, rank, (uint32_t)dtype, {0}, {0}, {0}, (uint8_t)swizzle};
  for (uint32_t i = 0; i < rank; i++) {
    if (!shape[i] || shape[i] > (1ull << 32) || !block[i] || block[i] > 256 || steps[i] != 1)
      return misuse(INVALID_VALUE, name, "sizes");
    if (i && (strides[i - 1] % 16 || strides[i - 1] >= (1ull << 40)))
      return misuse(INVALID_VALUE, name, "strides");
    made.shape[i] = shape[i];
    made.block[i] = (uint16_t)block[i];
    if (i) made.strides[i - 1] = strides[i - 1];
    end += (shape[i] - 1) * (i ? strides[i - 1] : width);
  }
  if (block[0] * width % 16 || block[0] * width > SWIZZLED[swizzle])
    return misuse(INVALID_VALUE, name, "the innermost axis of the block");
  if (!allocation_of(made.address, end)) return misuse(INVALID_VALUE, name, "out of bounds");
  memset(map, 0, 128);
  memcpy(map, &made, sizeof made);
  record("{\"call\": \"cuTensorMapEncodeTiled\", \"rank\": %u, \"dtype\": %d, \"swizzle\": %d}",
         rank, dtype, swizzle);
  return OK;
}

static int take(Node *node, int count, size_t *end, const void *from, size_t size) {
  *end = (*end + 63) / 64 * 64;
  if (*end + size > BYTES || count >= ARGUMENTS) abort();
  node->arguments[count] = memcpy(node->bytes + *end, from, size);
  *end += size;
  return count + 1;
}

/* Copy the arguments, as the driver does, and check that they lie in live memory. */
static const char *take_arguments(Node *node, const char *parameters, void **given) {
  int count = 0;
  size_t end = 0;
  char copy[1024], *state = NULL;
  snprintf(copy, sizeof copy, "%s", parameters);
  for (char *word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
    uint64_t number = strtoull(word + 1, NULL, 10);
    if (*word == 'p') {
      if (!allocation_of(*(Address *)given[count], number)) return "a pointer out of bounds";
      count = take(node, count, &end, given[count], 8);
      continue;
    }
    if (*word == 'i') {
      count = take(node, count, &end, given[count], 4);
      continue;
    }
    Map *map = given[count];
    if ((uintptr_t)map % 64 || map->rank != number) return "no map";
    if (!allocation_of(map->address, 1)) return "a map of what is freed";
    count = take(node, count, &end, given[count], 128);
    for (uint64_t i = 0; i < number; i++) {
      if (*(int32_t *)given[count] != (int32_t)map->shape[number - 1 - i]) return "another shape";
      count = take(node, count, &end, given[count], 4);
    }
    for (uint64_t i = 0; i < number; i++) {
      int64_t stride = *(int64_t *)given[count] * (int64_t)WIDTHS[map->dtype];
      if (i + 1 < number && stride != (int64_t)map->strides[number - 2 - i]) return "other strides";
      count = take(node, count, &end, given[count], 8);
    }
  }
  for (int i = 0; i < 2; i++) {
    if (*(Address *)given[count]) return "scratch memory that is not null";
    count = take(node, count, &end, given[count], 8);
  }
  return NULL;
}

Result cuLaunchKernel(Object *function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
                      uint32_t by, uint32_t bz, uint32_t shared, Object *stream, void **arguments,
                      void **extra) {
  ENTER("cuLaunchKernel") NEED_CONTEXT("cuLaunchKernel")
  const char *name = "cuLaunchKernel";
  if (!is(function, FUNCTION) || !is(function->module, MODULE) || !stream_ok(stream))
    return misuse(INVALID_HANDLE, name, "no kernel or no stream");
  if (!gx || !gy || !gz || gy > 65535 || gz > 65535 || !bx || bx > 1024 || by != 1 || bz != 1 ||
      extra || (int)shared > function->shared)
    return misuse(INVALID_VALUE, name, "sizes");
  Node *node = calloc(1, sizeof *node);
  node->what = LAUNCH;
  node->function = function;
  node->grid[0] = gx, node->grid[1] = gy, node->grid[2] = gz;
  Description *known = description_of(function);
  node->described = known != NULL;
  const char *wrong = known ? take_arguments(node, known->parameters, arguments) : NULL;
  if (wrong) return misuse(INVALID_VALUE, name, wrong);
  record("{\"call\": \"cuLaunchKernel\", \"kernel\": \"%s\", \"grid\": [%u, %u, %u], \"block\": %u, "
         "\"shared\": %u, \"captured\": %s}",
         function->name, gx, gy, gz, bx, shared,
         own(stream) && stream->capture ? "true" : "false");
  return add_or_run(own(stream), node);
}

/* -- devices and contexts ---------------------------------------------------------------------- */

Result cuInit(unsigned flags) {
  ENTER("cuInit") return devices ? OK : NO_DEVICE;
}
Result cuDriverGetVersion(int *value) {
  ENTER("cuDriverGetVersion") *value = version;
  return OK;
}
Result cuDeviceGetCount(int *count) {
  ENTER("cuDeviceGetCount") *count = devices;
  return OK;
}
Result cuDeviceGet(int *device, int ordinal) {
  ENTER("cuDeviceGet") *device = ordinal;
  return OK;
}
Result cuDeviceGetName(char *name, int size, int device) {
  ENTER("cuDeviceGetName") snprintf(name, size, "Stand-in %d", device);
  return OK;
}
Result cuDeviceGetAttribute(int *value, int attribute, int device) {
  ENTER("cuDeviceGetAttribute")
  *value = attribute == 75   ? architecture / 10
           : attribute == 76 ? architecture % 10
           : attribute == 97 ? most_shared
           : attribute == 1  ? 1024
                             : -1;
  return OK;
}
Result cuDevicePrimaryCtxRetain(Object **context, int device) {
  ENTER("cuDevicePrimaryCtxRetain")
  if (!contexts[device]) {
    contexts[device] = make(CONTEXT);
    contexts[device]->device = device;
  }
  retained[device]++;
  *context = contexts[device];
  record("{\"call\": \"cuDevicePrimaryCtxRetain\", \"device\": %d}", device);
  return OK;
}
Result cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER("cuDevicePrimaryCtxRelease_v2")
  if (retained[device]-- <= 0) return misuse(INVALID_CONTEXT, "release", "was not retained");
  record("{\"call\": \"cuDevicePrimaryCtxRelease\", \"device\": %d}", device);
  return OK;
}
Result cuCtxPushCurrent_v2(Object *context) {
  ENTER_ANYWAY("cuCtxPushCurrent_v2")
  if (!is(context, CONTEXT) || !retained[context->device])
    return misuse(INVALID_CONTEXT, "cuCtxPushCurrent_v2", "no context");
  if (depth == 64) abort();
  current[depth++] = context;
  return OK;
}
Result cuCtxPopCurrent_v2(Object **context) {
  ENTER_ANYWAY("cuCtxPopCurrent_v2")
  if (!depth) return misuse(INVALID_CONTEXT, "cuCtxPopCurrent_v2", "no current context");
  *context = current[--depth];
  return OK;
}

/* -- errors ------------------------------------------------------------------------------------ */

static const struct { int code; const char *name, *words; } ERRORS[] = {
  {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
  {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
  {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
  {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
  {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
  {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
  {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
   "the provided PTX was compiled with an unsupported toolchain."},
  {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
  {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
  {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
  {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

static int position(int code) {
  for (int i = 0; i < (int)(sizeof ERRORS / sizeof *ERRORS); i++)
    if (ERRORS[i].code == code) return i;
  return -1;
}
Result cuGetErrorName(int code, const char **name) {
  *name = position(code) < 0 ? NULL : ERRORS[position(code)].name;
  return *name ? OK : INVALID_VALUE;
}
Result cuGetErrorString(int code, const char **words) {
  *words = position(code) < 0 ? NULL : ERRORS[position(code)].words;
  return *words ? OK : INVALID_VALUE;
}
