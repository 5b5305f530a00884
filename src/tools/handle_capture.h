// Capture scenarios: what each records, the profile it is made of, and the commands that run it.
#ifndef TOOLS_HANDLE_CAPTURE_H
#define TOOLS_HANDLE_CAPTURE_H

#include "tools/handlers.h"

typedef enum CaptureKind {
    CAPTURE_PROFILE,  // profiles/<name>.wprp, run by WPR
    CAPTURE_BUILT_IN, // profiles that WPR brings along
    CAPTURE_PKTMON,   // no WPR
} CaptureKind;

typedef struct Scenario {
    const char *name, *title, *use;
    const char *records, *misses; // in words; providers come from the profile itself
    const char *overhead, *size;  // `size`: of a capture as long as recommended
    const char *tools;            // separated by ", "
    const char *notes;            // NULL: none
    const char *built_in;         // CAPTURE_BUILT_IN: WPR profile names, separated by blanks
    CaptureKind kind;
    int seconds; // recommended
} Scenario;

extern const Scenario *const SCENARIOS[]; // sorted by name
extern const size_t SCENARIO_COUNT;
const Scenario *scenario_find(Str name); // NULL: none of that name

// handle_capture_profile.c: what a .wprp file says.
enum { PROFILE_ITEMS_MAX = 32 };
typedef struct ProfileProvider {
    Str name, guid, keywords;
    int64_t level;
    bool strict, non_paged, stack;
} ProfileProvider;

typedef struct CaptureProfile {
    Str text; // the file
    Str name; // of <Profile>
    Str keywords[PROFILE_ITEMS_MAX];
    size_t keyword_count;
    Str stacks[PROFILE_ITEMS_MAX];
    size_t stack_count;
    ProfileProvider providers[PROFILE_ITEMS_MAX];
    size_t provider_count;
    Str custom_events[PROFILE_ITEMS_MAX];
    size_t custom_event_count;
    int64_t kernel_kb, kernel_buffers, event_kb, event_buffers; // 0: no such collector
    bool to_file, to_memory;
} CaptureProfile;

// The built-in profile of that scenario; ERR_INTERNAL when it is missing or no profile.
Status capture_profile_read(Str scenario, Arena *arena, CaptureProfile *out, Err *err);
// "kernel: ProcessThread, ...; Microsoft-Quic (level 5, NonPagedMemory)"; for people.
Str capture_providers(const Scenario *scenario, bool kernel_flags, Arena *arena, Err *err);

// handle_capture_text.c
typedef struct CaptureOrder {
    const Scenario *scenario;
    Str path; // of the ETL on the target
    int64_t seconds;
    bool to_memory;
} CaptureOrder;
// ERR_ARG for a path that is blank, or that no Windows file can have.
Status capture_path_check(Str path, Err *err);
Str capture_quote(Str text, Arena *arena); // as a PowerShell literal
Str capture_start_command(const CaptureOrder *order, bool to_memory, Arena *arena);
// Sections of `doc`, each with a heading when that is not empty.
void capture_prepare_section(Doc *doc, const CaptureOrder *order, Str heading);
void capture_run_section(Doc *doc, const CaptureOrder *order, Str heading);
void capture_xml_section(Doc *doc, Str xml, Str heading);
DocSection *capture_section(Doc *doc, const char *name, Str heading, SectionStyle style);
void capture_line(Doc *doc, DocSection *section, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
