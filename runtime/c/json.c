/* Parse JSON (RFC 8259), strictly: into nodes that refer to the text, which is changed in place. */
#include "internal.h"

#include <string.h>

enum { DEEPEST = 64 };

typedef struct reader {
    char *start;
    char *at;
    char *end;
    json *nodes;
    trivium_error *error;
} reader;

static status refuse(const reader *reader, const char *what) {
    return FAIL(reader->error, TRIVIUM_ERROR_PACKAGE, "manifest: is not JSON: %s at byte %zu",
                what, (size_t)(reader->at - reader->start));
}

static void skip_space(reader *reader) {
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) && *reader->at)
        reader->at++;
}

/* Read one character, which may follow white space; return whether it was there. */
static bool take(reader *reader, char wanted) {
    skip_space(reader);
    if (reader->at == reader->end || *reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

/* Return the length of a character in UTF-8, 0 for what is none (RFC 3629). */
static size_t character(const unsigned char *at, size_t left) {
    static const unsigned char low[] = {0x80, 0xa0, 0x80, 0x90, 0x80};
    static const unsigned char high[] = {0xbf, 0xbf, 0x9f, 0xbf, 0x8f};
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3
                    : at[0] < 0xf5 ? 4 : 0;
    int second = at[0] == 0xe0 ? 1 : at[0] == 0xed ? 2 : at[0] == 0xf0 ? 3 : at[0] == 0xf4 ? 4 : 0;
    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++) {
        int limits = i == 1 ? second : 0;
        if (at[i] < low[limits] || at[i] > high[limits])
            return 0;
    }
    return length;
}

/* Read four hexadecimal digits; return -1 for others. */
static int32_t read_hex(reader *reader) {
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = reader->at < reader->end ? *reader->at++ : 0;
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* Write a code point; it takes fewer bytes than its escape did. */
static char *put_character(char *to, int32_t code) {
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(first[more] | code >> (6 * more));
    while (more--)
        *to++ = (char)(0x80 | (code >> (6 * more) & 0x3f));
    return to;
}

static status read_escape(reader *reader, char **to) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char c = reader->at < reader->end ? *reader->at++ : 0;
    const char *found = c ? strchr(names, c) : NULL;
    if (found) {
        *(*to)++ = values[found - names];
        return TRIVIUM_OK;
    }
    int32_t code = c == 'u' ? read_hex(reader) : -1;
    if (code >= 0xd800 && code < 0xdc00) {
        bool paired = reader->end - reader->at >= 6 && reader->at[0] == '\\' &&
                      reader->at[1] == 'u';
        reader->at += paired ? 2 : 0;
        int32_t low = paired ? read_hex(reader) : -1;
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + low - 0xdc00
                                             : -1;
    }
    if (code <= 0 || (code >= 0xdc00 && code < 0xe000))
        return refuse(reader, "an escape stands for no character");
    *to = put_character(*to, code);
    return TRIVIUM_OK;
}

static status read_text(reader *reader, const char **text) {
    if (!take(reader, '"'))
        return refuse(reader, "there must be a text");
    char *to = reader->at;
    *text = to;
    while (reader->at < reader->end && *reader->at != '"') {
        if (*reader->at == '\\') {
            reader->at++;
            TRY(read_escape(reader, &to));
            continue;
        }
        size_t length = character((unsigned char *)reader->at, (size_t)(reader->end - reader->at));
        if (!length || (unsigned char)*reader->at < ' ')
            return refuse(reader, "a text has a byte that it must not have");
        memmove(to, reader->at, length);
        to += length;
        reader->at += length;
    }
    if (reader->at == reader->end)
        return refuse(reader, "a text has no end");
    reader->at++;
    *to = 0; /* at the place of the quote, or before it */
    return TRIVIUM_OK;
}

static size_t skip_digits(reader *reader) {
    char *start = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
        reader->at++;
    return (size_t)(reader->at - start);
}

static status read_number(reader *reader, json *node) {
    bool negative = take(reader, '-'), fits = true;
    char *digits = reader->at;
    size_t length = skip_digits(reader);
    if (!length || (*digits == '0' && length > 1))
        return refuse(reader, "there must be a value");
    uint64_t value = 0, most = (uint64_t)INT64_MAX + negative;
    for (size_t i = 0; i < length && fits; i++) {
        unsigned digit = (unsigned)(digits[i] - '0');
        fits = value <= (most - digit) / 10;
        value = value * 10 + digit;
    }
    bool whole = true;
    if (reader->at < reader->end && *reader->at == '.') {
        reader->at++;
        whole = false;
        if (!skip_digits(reader))
            return refuse(reader, "a number must have digits behind its point");
    }
    if (reader->at < reader->end && (*reader->at == 'e' || *reader->at == 'E')) {
        reader->at++;
        whole = false;
        if (reader->at < reader->end && (*reader->at == '+' || *reader->at == '-'))
            reader->at++;
        if (!skip_digits(reader))
            return refuse(reader, "an exponent must have digits");
    }
    node->kind = !whole ? JSON_NUMBER : fits ? JSON_INTEGER : JSON_HUGE;
    node->value.integer = (int64_t)(negative ? 0 - value : value);
    return TRIVIUM_OK;
}

static bool take_word(reader *reader, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length))
        return false;
    reader->at += length;
    return true;
}

static status read_value(reader *reader, json *node, int depth);

static status read_elements(reader *reader, json *node, char close, int depth) {
    bool named = close == '}';
    json *last = NULL;
    node->kind = named ? JSON_OBJECT : JSON_LIST;
    if (depth == DEEPEST)
        return FAIL(reader->error, TRIVIUM_ERROR_PACKAGE, "manifest: is nested too deep");
    if (take(reader, close))
        return TRIVIUM_OK;
    do {
        json *element = reader->nodes++;
        if (named) {
            TRY(read_text(reader, &element->name));
            if (!take(reader, ':'))
                return refuse(reader, "there must be a colon");
        }
        TRY(read_value(reader, element, depth + 1));
        if (last)
            last->next = element;
        else
            node->value.first = element;
        last = element;
        node->count++;
    } while (take(reader, ','));
    return take(reader, close) ? TRIVIUM_OK : refuse(reader, "there must be a comma or an end");
}

static status read_value(reader *reader, json *node, int depth) {
    skip_space(reader);
    char c = reader->at < reader->end ? *reader->at : 0;
    if (c == '"') {
        node->kind = JSON_TEXT;
        return read_text(reader, &node->value.text);
    }
    if (c == '[' || c == '{') {
        reader->at++;
        return read_elements(reader, node, c == '[' ? ']' : '}', depth);
    }
    if (take_word(reader, "null"))
        return TRIVIUM_OK;
    node->value.integer = take_word(reader, "true");
    if (node->value.integer || take_word(reader, "false")) {
        node->kind = JSON_BOOLEAN;
        return TRIVIUM_OK;
    }
    return read_number(reader, node);
}

status parse_json(const json **document, char *text, size_t size, heap *heap,
                  trivium_error *error) {
    size_t most = 1; /* values: one, and each other follows a bracket or a comma */
    for (size_t i = 0; i < size; i++)
        most += text[i] == ',' || text[i] == '[' || text[i] == '{';
    json *nodes = take_zeroed(heap, most, sizeof(json));
    if (!nodes)
        return SYSTEM("the system has no memory for a manifest of %zu bytes", size);
    reader reader = {text, text, text + size, nodes + 1, error};
    TRY(read_value(&reader, nodes, 0));
    skip_space(&reader);
    if (reader.at != reader.end)
        return refuse(&reader, "something follows the value");
    *document = nodes;
    return TRIVIUM_OK;
}

const json *json_field(const json *object, const char *name) {
    if (object->kind != JSON_OBJECT)
        return NULL;
    const json *found = object->value.first;
    while (found && strcmp(found->name, name))
        found = found->next;
    return found;
}

const char *json_text(const json *object, const char *name) {
    const json *found = json_field(object, name);
    return found && found->kind == JSON_TEXT ? found->value.text : "";
}
