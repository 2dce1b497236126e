/* Choose the native code that this CPU has everything for. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__)
#define HERE "x86_64"
#elif defined(__aarch64__)
#define HERE "aarch64"
#else
#define HERE "another one"
#endif

enum { LINE = 1 << 16 };

/* Compare names of features but for punctuation, in which LLVM and Linux differ. */
static bool same_feature(const char *one, size_t size, const char *two) {
    const char *end = one + size;
    for (;;) {
        while (one < end && strchr("._-", *one))
            one++;
        while (*two && strchr("._-", *two))
            two++;
        if (one == end || !*two)
            return one == end && !*two;
        if (*one++ != *two++)
            return false;
    }
}

static bool has_feature(const char *flags, const char *name) {
    while (*flags) {
        flags += strspn(flags, " \t\n");
        size_t size = strcspn(flags, " \t\n");
        if (size && same_feature(flags, size, name))
            return true;
        flags += size;
    }
    return false;
}

/* Read the features of the first processor, which stands for all. */
static status read_flags(char line[LINE], trivium_error *error) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file)
        return SYSTEM("/proc/cpuinfo cannot be read");
    bool found = false;
    while (!found && fgets(line, LINE, file))
        found = !strncmp(line, "flags", 5);
    fclose(file);
    char *value = found ? strchr(line, ':') : NULL;
    if (!value)
        return SYSTEM("/proc/cpuinfo does not tell the features of this CPU");
    memmove(line, value + 1, strlen(value));
    return TRIVIUM_OK;
}

/* Return why the code of a machine cannot run here, as the end of a sentence, or "". */
static void lacking(const machine *machine, const char *flags, char *text, size_t size) {
    *text = 0;
    if (strcmp(machine->architecture, HERE)) {
        snprintf(text, size, "is for %.40s, this machine is " HERE, machine->architecture);
        return;
    }
    for (size_t i = 0; i < machine->features.count; i++) {
        const char *name = *AT(machine->features, const char *, i);
        if (!has_feature(flags, name)) {
            snprintf(text, size, "needs %.40s, which this CPU lacks", name);
            return;
        }
    }
}

status choose_machine(const list *machines, const machine **chosen, trivium_error *error) {
    if (strcmp(HERE, "x86_64"))
        return UNSUPPORTED("packages have code for x86_64 with Linux, this machine is " HERE);
    char *flags = malloc(LINE);
    if (!flags)
        return SYSTEM("the system has no memory for a list of features");
    status code = read_flags(flags, error);
    char lack[120] = "is for no CPU at all";
    *chosen = NULL;
    for (size_t i = 0; code == TRIVIUM_OK && !*chosen && i < machines->count; i++) {
        const machine *each = AT(*machines, machine, i);
        lacking(each, flags, lack, sizeof lack);
        *chosen = *lack ? NULL : each;
    }
    free(flags);
    if (code == TRIVIUM_OK && !*chosen) /* the last machine needs least */
        return UNSUPPORTED("the package %s: compile the model or the package again for it", lack);
    return code;
}
