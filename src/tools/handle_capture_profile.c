// Reads the capture profiles that are linked in (profiles/*.wprp): the XML that the Windows
// Performance Recorder takes, schema version 1.
#include "tools/handle_capture.h"

#include "base/embed.h"

#include <expat.h>

extern const EmbeddedFile ETW_PROFILE_FILES[];
extern const unsigned ETW_PROFILE_FILES_COUNT;

typedef struct ProfileReader {
    CaptureProfile *profile;
    Arena *arena;
    bool in_events; // of an EventCollector, else of the SystemCollector
    ProfileProvider *provider;
    bool too_many;
} ProfileReader;

static Str attribute(const ProfileReader *reader, const char **attributes, const char *name) {
    for (size_t i = 0; attributes[i]; i += 2)
        if (str_eq(str_from_c(attributes[i]), str_from_c(name)))
            return str_copy(reader->arena, str_from_c(attributes[i + 1]));
    return (Str){0};
}

static bool attribute_is_true(const ProfileReader *reader, const char **attributes,
                              const char *name) {
    return str_eq(attribute(reader, attributes, name), STR("true"));
}

static void put_item(ProfileReader *reader, Str *items, size_t *count, Str value) {
    if (*count == PROFILE_ITEMS_MAX)
        reader->too_many = true;
    else
        items[(*count)++] = value;
}

static void put_number(Str text, int64_t *out) {
    if (!str_to_i64(text, out)) *out = 0;
}

static void begin_provider(ProfileReader *reader, const char **attributes) {
    CaptureProfile *profile = reader->profile;
    if (profile->provider_count == PROFILE_ITEMS_MAX) {
        reader->too_many = true;
        return;
    }
    reader->provider = &profile->providers[profile->provider_count++];
    Str id = attribute(reader, attributes, "Id"), prefix = STR("EventProvider_");
    *reader->provider = (ProfileProvider){
        .name = str_starts(id, prefix) ? str_slice(id, prefix.n, id.n) : id,
        .guid = attribute(reader, attributes, "Name"),
        .strict = attribute_is_true(reader, attributes, "Strict"),
        .non_paged = attribute_is_true(reader, attributes, "NonPagedMemory"),
        .stack = attribute_is_true(reader, attributes, "Stack"),
    };
    put_number(attribute(reader, attributes, "Level"), &reader->provider->level);
}

static void begin_profile(ProfileReader *reader, const char **attributes) {
    CaptureProfile *profile = reader->profile;
    profile->name = attribute(reader, attributes, "Name");
    Str mode = attribute(reader, attributes, "LoggingMode");
    if (str_eq(mode, STR("File"))) profile->to_file = true;
    if (str_eq(mode, STR("Memory"))) profile->to_memory = true;
}

static void begin_keyword(ProfileReader *reader, Str value) {
    CaptureProfile *profile = reader->profile;
    if (reader->provider)
        reader->provider->keywords = value;
    else
        put_item(reader, profile->keywords, &profile->keyword_count, value);
}

static void begin_element(void *context, const char *element, const char **attributes) {
    ProfileReader *reader = context;
    CaptureProfile *profile = reader->profile;
    Str name = str_from_c(element), value = attribute(reader, attributes, "Value");
    if (str_eq(name, STR("SystemCollector"))) reader->in_events = false;
    if (str_eq(name, STR("EventCollector"))) reader->in_events = true;
    if (str_eq(name, STR("SystemProvider"))) reader->provider = NULL;
    if (str_eq(name, STR("BufferSize")))
        put_number(value, reader->in_events ? &profile->event_kb : &profile->kernel_kb);
    if (str_eq(name, STR("Buffers")))
        put_number(value, reader->in_events ? &profile->event_buffers : &profile->kernel_buffers);
    if (str_eq(name, STR("Keyword"))) begin_keyword(reader, value);
    if (str_eq(name, STR("Stack"))) put_item(reader, profile->stacks, &profile->stack_count, value);
    if (str_eq(name, STR("CustomEvent")))
        put_item(reader, profile->custom_events, &profile->custom_event_count, value);
    if (str_eq(name, STR("EventProvider"))) begin_provider(reader, attributes);
    if (str_eq(name, STR("Profile"))) begin_profile(reader, attributes);
}

static Str profile_text(Str scenario, Arena *arena) {
    Str wanted = str_format(arena, "profiles/" STR_FMT ".wprp", STR_ARG(scenario));
    for (unsigned i = 0; i < ETW_PROFILE_FILES_COUNT; i++)
        if (str_eq(wanted, str_from_c(ETW_PROFILE_FILES[i].name)))
            return (Str){(const char *)ETW_PROFILE_FILES[i].bytes, ETW_PROFILE_FILES[i].size};
    return (Str){0};
}

Status capture_profile_read(Str scenario, Arena *arena, CaptureProfile *out, Err *err) {
    *out = (CaptureProfile){.text = profile_text(scenario, arena)};
    if (!out->text.n)
        return err_set(err, ERR_INTERNAL, "there is no profile of the scenario \"" STR_FMT "\"",
                       STR_ARG(scenario));
    ProfileReader reader = {.profile = out, .arena = arena};
    XML_Parser parser = XML_ParserCreate("UTF-8");
    XML_SetUserData(parser, &reader);
    XML_SetStartElementHandler(parser, begin_element);
    bool parsed = XML_Parse(parser, out->text.p, (int)out->text.n, 1) == XML_STATUS_OK;
    unsigned long line = XML_GetCurrentLineNumber(parser);
    XML_ParserFree(parser);
    if (parsed && out->name.n && !reader.too_many) return OK;
    return err_set(err, ERR_INTERNAL, "profiles/" STR_FMT ".wprp:%lu: no well-formed profile",
                   STR_ARG(scenario), line);
}

static void put_list(Buf *out, const Str *items, size_t count) {
    for (size_t i = 0; i < count; i++)
        buf_addf(out, "%s" STR_FMT, i ? ", " : "", STR_ARG(items[i]));
}

static void put_provider(Buf *out, const ProfileProvider *provider, bool whole) {
    buf_addf(out, "; " STR_FMT " (level %lld", STR_ARG(provider->name), (long long)provider->level);
    if (whole) buf_addf(out, ", keywords " STR_FMT, STR_ARG(provider->keywords));
    if (whole && provider->non_paged) buf_add_c(out, ", nonpaged memory");
    buf_add_c(out, provider->strict ? ", strict)" : ")");
}

Str capture_providers(const Scenario *scenario, bool kernel_flags, Arena *arena, Err *err) {
    if (scenario->kind == CAPTURE_PKTMON) return STR("Microsoft-Windows-PktMon, started by pktmon");
    if (scenario->kind == CAPTURE_BUILT_IN)
        return str_format(arena, "WPR's own profiles: %s", scenario->built_in);
    CaptureProfile *profile = ARENA_NEW(arena, CaptureProfile);
    if (capture_profile_read(str_from_c(scenario->name), arena, profile, err) != OK)
        return (Str){0};
    Buf out = {0};
    buf_add_c(&out, "Kernel: ");
    put_list(&out, profile->keywords, profile->keyword_count);
    if (kernel_flags) {
        buf_add_c(&out, "; stacks of ");
        put_list(&out, profile->stacks, profile->stack_count);
    }
    for (size_t i = 0; i < profile->provider_count; i++)
        put_provider(&out, &profile->providers[i], kernel_flags);
    Str text = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return text;
}
