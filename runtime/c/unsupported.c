/* Refuse by name what this library cannot run, before a manifest is decoded. */
#include "internal.h"

#include <string.h>

enum { VERSION = 12, SYMBOLIC_VERSION = 13 };

/* Refuse steps of other kinds by the nodes that they do. */
static status check_steps(const json *document, const char *name, trivium_error *error) {
    const json *steps = json_field(document, name);
    if (!steps || steps->kind != JSON_LIST)
        return TRIVIUM_OK; /* the tables refuse it */
    size_t number = 0;
    for (const json *each = steps->value.first; each; each = each->next, number++) {
        const char *kind = json_text(each, "kind"), *reason = json_text(each, "reason");
        const char *op = json_text(each, "op");
        const json *nodes = json_field(each, "nodes");
        if (!strcmp(kind, "cpu") || each->kind != JSON_OBJECT)
            continue;
        bool named = nodes && nodes->kind == JSON_LIST && nodes->count &&
                     nodes->value.first->kind == JSON_TEXT;
        return UNSUPPORTED("%.60s: error: '%.60s' op is %s[%zu] of kind '%.30s'%s%.150s, must be "
                           "native code: run the package with Python, or compile it for the "
                           "target cpu with --strict",
                           named ? nodes->value.first->value.text : "(no node)",
                           *op ? op : kind, name, number, kind, *reason ? ", because " : "",
                           reason);
    }
    return TRIVIUM_OK;
}

/* Refuse what this library cannot run, before anything is decoded. */
static status check_abilities(const json *document, trivium_error *error) {
    static const struct {
        const char *field, *is;
    } features[] = {
        {"strings", "has text"},
        {"spaces", "uses the memory of a device"},
        {"exact", "has programs for exact sizes"},
        {"symbols", "has sizes that change from run to run"},
        {"named_sizes", "has sizes that change from run to run"},
        {"checks", "has sizes that change from run to run"},
        {"regions", "has sizes that change from run to run"},
        {"carried_arenas", "has loops"},
        {"only_exact", "has programs for exact sizes alone"},
    };
    for (size_t i = 0; i < COUNT(features); i++) {
        const json *found = json_field(document, features[i].field);
        if (found && (found->kind != JSON_LIST || found->count))
            return UNSUPPORTED("the package %s (manifest: '%s'), which libtrivium lacks: run it "
                               "with Python, or compile the model without",
                               features[i].is, features[i].field);
    }
    const json *settings = json_field(document, "settings");
    const json *cores = settings ? json_field(settings, "cores") : NULL;
    if (cores && cores->kind == JSON_LIST && cores->count)
        return UNSUPPORTED("the package binds threads to cores, which libtrivium does not: "
                           "compile the model without --cores");
    TRY(check_steps(document, "load_steps", error));
    return check_steps(document, "steps", error);
}

static status check_version(const json *document, trivium_error *error) {
    const json *version = json_field(document, "version");
    if (strcmp(json_text(document, "format"), "trivium"))
        return CORRUPT("manifest: 'format' must be 'trivium'");
    if (!version || version->kind != JSON_INTEGER)
        return CORRUPT("manifest: 'version' must be an integer of 64 bits");
    long long number = version->value.integer;
    if (number < VERSION)
        return CORRUPT("manifest: 'version' is %lld, this library reads %d: compile the model "
                       "again", number, VERSION);
    if (number > SYMBOLIC_VERSION)
        return UNSUPPORTED("manifest: 'version' is %lld, this library reads %d: update the "
                           "library or compile the model again with this version",
                           number, VERSION);
    if (number == SYMBOLIC_VERSION)
        return UNSUPPORTED("the package has sizes that change from run to run, which libtrivium "
                           "lacks: compile the model with its sizes given by --shape");
    return TRIVIUM_OK;
}

status check_support(const json *document, trivium_error *error) {
    TRY(check_version(document, error));
    return check_abilities(document, error);
}
