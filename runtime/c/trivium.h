/* Run a package that Trivium has compiled (`.trv`), from C: no Python, no library but libc.
 *
 *     trivium_error error;
 *     trivium_package *package;
 *     trivium_session *session;
 *     if (trivium_open("model.trv", &package, &error) != TRIVIUM_OK)
 *         return puts(error.text), 1;
 *     if (trivium_session_create(package, 0, &session, &error) != TRIVIUM_OK)
 *         return puts(error.text), 1;
 *     const void *inputs[] = {image};
 *     void *outputs[] = {scores};
 *     if (trivium_session_run(session, inputs, outputs, &error) != TRIVIUM_OK)
 *         return puts(error.text), 1;
 *     trivium_session_free(session);
 *     trivium_close(package);
 *
 * A package may be used by any number of threads at once. A session is used by one at a time; the
 * sessions of a package share its weights and its code. Loading a package runs code that is in it:
 * checksums find damage, no forger.
 */
#ifndef TRIVIUM_H
#define TRIVIUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(TRIVIUM_API) /* by who includes the sources in a library of their own */
#elif defined(__GNUC__)
#define TRIVIUM_API __attribute__((visibility("default")))
#else
#define TRIVIUM_API
#endif

/* Why a function did not do what it was called for. */
typedef enum trivium_status {
    TRIVIUM_OK = 0,
    TRIVIUM_ERROR_SYSTEM = 1,      /* the system lacks a file, memory or a permission */
    TRIVIUM_ERROR_PACKAGE = 2,     /* the file is no package, damaged, or of another form */
    TRIVIUM_ERROR_UNSUPPORTED = 3, /* the package needs what this library or this CPU lacks */
    TRIVIUM_ERROR_ARGUMENT = 4     /* an argument of the caller is wrong */
} trivium_status;

/* The status of a call, and one line of printable ASCII that explains it; empty if it is OK. */
typedef struct trivium_error {
    trivium_status status;
    char text[500];
} trivium_error;

typedef struct trivium_package trivium_package;
typedef struct trivium_session trivium_session;

/* An input or an output: a contiguous array in row-major order. */
typedef struct trivium_port {
    const char *name;  /* as in the source model, UTF-8 */
    const char *dtype; /* of an element, as numpy spells it: "float32", "int64", "bool" */
    const int64_t *shape;
    size_t rank;
    size_t item_bytes; /* of one element; an array must be aligned to it, up to 8 bytes */
    size_t size_bytes; /* of the array */
} trivium_port;

/* In every function, `error` may be NULL. What is returned by way of a pointer is set on success,
 * and NULL otherwise. */

/* Open a package: map the file, and the one beside it that has its constants, if there is one;
 * check it, link its code, compute constants.
 *
 * Checksums of the manifest, of the weights and of the code that is linked are compared here. The
 * file must not be changed in place while the package is open: replace it by renaming another. */
TRIVIUM_API trivium_status trivium_open(const char *path, trivium_package **package,
                                        trivium_error *error);

/* Open a package whose file is in memory, which must stay as it is until all of it is freed. */
TRIVIUM_API trivium_status trivium_open_memory(const void *data, size_t size,
                                               trivium_package **package, trivium_error *error);

/* Let go of a package, or of NULL; it is freed with the last of its sessions. */
TRIVIUM_API void trivium_close(trivium_package *package);

/* Return how many inputs or outputs there are, and one of them by its number, NULL beyond the
 * last. What is returned belongs to the package. */
TRIVIUM_API size_t trivium_input_count(const trivium_package *package);
TRIVIUM_API size_t trivium_output_count(const trivium_package *package);
TRIVIUM_API const trivium_port *trivium_input(const trivium_package *package, size_t number);
TRIVIUM_API const trivium_port *trivium_output(const trivium_package *package, size_t number);

/* Return the name of the machine whose code is used, as the compiler was given it. */
TRIVIUM_API const char *trivium_machine(const trivium_package *package);

/* Create a session with memory of its own that runs on up to `threads` threads, at most 1024.
 *
 * 0 stands for as many as the package says, or else as there are CPUs for this process. All
 * sessions of a package share its threads: while one of them runs on several, others run on the
 * thread that called them. Results are the same, bit by bit, with any number. */
TRIVIUM_API trivium_status trivium_session_create(trivium_package *package, unsigned threads,
                                                  trivium_session **session, trivium_error *error);

/* Compute all outputs from all inputs: arrays in the order of the ports, each of their size.
 *
 * An output must share memory with nothing else that is given. */
TRIVIUM_API trivium_status trivium_session_run(trivium_session *session, const void *const inputs[],
                                               void *const outputs[], trivium_error *error);

/* Let state begin anew: values that a session carries from run to run, which are neither among
 * the inputs nor among the outputs. */
TRIVIUM_API trivium_status trivium_session_reset(trivium_session *session, trivium_error *error);

/* Free a session, or NULL. It must not be running. */
TRIVIUM_API void trivium_session_free(trivium_session *session);

/* Return the version of the library, such as "0.1.0". */
TRIVIUM_API const char *trivium_version(void);

#ifdef __cplusplus
}
#endif

#endif
