// What the files of the script interpreter share: its state and the arguments of one line.
#ifndef SUPPORT_ETL_BUILD_SCRIPT_PRIV_H
#define SUPPORT_ETL_BUILD_SCRIPT_PRIV_H

#include "base/map.h"
#include "base/os.h"
#include "support/etl_build_kernel.h"
#include "support/etl_build_script.h"

enum { ARGS_MAX = 96, DEPTH_MAX = 6, FRAMES_MAX = 192, CHOICES_MAX = 32 };

typedef struct Arg {
    Str key, value;
    bool used;
} Arg;

typedef struct Args { // one line
    Str verb;         // one or two words
    bool has_time;
    int64_t time_ns;
    Arg items[ARGS_MAX];
    size_t count;
} Args;

typedef struct Run { // one stretch of a thread on a CPU
    int64_t start_ns, end_ns;
    uint16_t cpu;
    uint32_t tid;
    Str stacks;     // alternatives separated by '|'
    Str wait_stack; // where the thread resumes
    uint8_t state, reason, priority;
    bool has_ready;
    uint16_t ready_cpu;
    int64_t ready_ns;
    Str ready_stack;
    size_t order;
} Run;

typedef struct KeyedStack {
    uint64_t key;
    const uint64_t *frames;
    size_t count;
} KeyedStack;

typedef struct Image {
    Str name; // file name, as used in "name+0x10"
    uint32_t pid;
    uint64_t base;
} Image;

struct EtlScript {
    EtlBuild *build;
    Arena arena;
    size_t line;
    size_t depth; // of repeats
    uint64_t index[DEPTH_MAX];
    int64_t offset_ns; // of the repeats around this line
    uint64_t random;
    StrMap variables; // name -> Str *
    Map pid_of_tid;
    VEC(Image) images;
    VEC(Run) runs;
    VEC(KeyedStack) keys;
    Map key_of_hash;
    bool keyed_stacks, idle_samples;
    int64_t interval_ns, last_ns;
    Buf damage_lines; // applied to the finished bytes
};

// Arguments: marked as used when asked for, so that what is left over is an error.
Arg *args_find(Args *args, const char *key);
Str args_text(Args *args, const char *key); // empty when absent
Status args_number(EtlScript *s, Args *args, const char *key, uint64_t fallback, uint64_t *out,
                   Err *err);
Status args_span(Args *args, const char *key, int64_t fallback, int64_t *out, Err *err);
Status args_guid(Args *args, const char *key, Guid *out, Err *err);
Status args_all_used(const Args *args, Err *err);

// Words of one line.
Status script_args(EtlScript *s, Str line, Args *args, Err *err);

// Values. Times are nanoseconds since the trace began, sums like "10ms+20us" included.
Status script_number(EtlScript *s, Str text, uint64_t *out, Err *err); // also "image.dll+0x10"
Status script_time(Str text, int64_t *out, Err *err);
Status script_named(EtlScript *s, Str text, const BuildName *names, uint64_t *out, Err *err);
// Frames of "a,b,c" into the arena.
Status script_frames(EtlScript *s, Str text, uint64_t **frames, size_t *count, Err *err);
uint64_t script_random(EtlScript *s, uint64_t below);
// One of "a|b|c"; a weight may stand behind it: "a*5".
Str script_pick(EtlScript *s, Str choices);
// Replaces $name, ${expression} and $[a|b|c].
Status script_expand(EtlScript *s, Str line, Str *out, Err *err);

// Verbs. Each takes its arguments and leaves the rest for args_all_used.
Status script_record(EtlScript *s, Args *args, bool *known, Err *err);
Status script_special(EtlScript *s, Args *args, bool *known, Err *err);
// cpu, header, ptr, by, ... of any event.
Status script_when(EtlScript *s, Args *args, EtlBuildEvent *when, Err *err);
// `cut`, `extra` on a finished payload, then the event itself.
Status script_emit(EtlScript *s, Args *args, EtlBuildEvent *event, Buf *payload, Err *err);
// stack=, kstack=, ustack= of an event of this thread.
Status script_stacks(EtlScript *s, Args *args, const EtlBuildEvent *event, uint32_t tid, Err *err);
Status script_put_stack(EtlScript *s, const EtlBuildEvent *event, uint32_t tid, Str frames,
                        Err *err);
uint32_t script_pid(const EtlScript *s, uint32_t tid); // ETL_BUILD_UNKNOWN when never started
// A kernel event by its verb, with values by name.
Status script_run_verb(EtlScript *s, Args *args, Err *err);
Status script_play_runs(EtlScript *s, Err *err);
Status script_define_keys(EtlScript *s, Err *err);
Status script_options(EtlScript *s, Args *args, EtlBuildOptions *options, Err *err);
Status script_damage(EtlScript *s, Buf *trace, Err *err);

#endif
