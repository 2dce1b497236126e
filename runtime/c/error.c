/* Errors: a status, and one line of text. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Copy text that others wrote: what is no printable ASCII would reach the terminal of the user. */
static void escape(char *to, size_t size, const char *from) {
    static const char digits[] = "0123456789abcdef";
    char *end = to + size - 1;
    for (; *from; from++) {
        unsigned char c = (unsigned char)*from;
        bool plain = c >= ' ' && c <= '~';
        if (end - to < (plain ? 1 : 4))
            break;
        if (plain) {
            *to++ = (char)c;
            continue;
        }
        *to++ = '\\';
        *to++ = 'x';
        *to++ = digits[c >> 4];
        *to++ = digits[c & 15];
    }
    *to = 0;
}

void set_error(trivium_error *error, status code, const char *format, ...) {
    char text[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    error->status = code;
    escape(error->text, sizeof error->text, text);
}

void prefix_error(trivium_error *error, const char *name) {
    char text[sizeof error->text];
    memcpy(text, error->text, sizeof text);
    set_error(error, error->status, "%.200s: %s", name, text);
}

const char *trivium_version(void) {
    return TRIVIUM_VERSION;
}
