// Kernel events in scripts: arguments to the fields of a record, the headers' common arguments, and
// the stacks that belong to an event.
#include "support/etl_build_script_priv.h"

static const BuildName HEADERS[] = {
    {"system",   ETL_BUILD_SYSTEM  },
    {"compact",  ETL_BUILD_COMPACT },
    {"perfinfo", ETL_BUILD_PERFINFO},
    {"full",     ETL_BUILD_FULL    },
    {"instance", ETL_BUILD_INSTANCE},
    {"event",    ETL_BUILD_EVENT   },
    {"message",  ETL_BUILD_MESSAGE },
    {NULL,       0                 },
};

uint32_t script_pid(const EtlScript *s, uint32_t tid) {
    const uint64_t *pid = map_get(&s->pid_of_tid, tid);
    return pid ? (uint32_t)*pid : ETL_BUILD_UNKNOWN;
}

static Status when_extras(EtlScript *s, Args *args, EtlBuildEvent *when, Err *err) {
    uint64_t *counters = NULL;
    size_t count = 0;
    uint64_t kernel_time = 0, user_time = 0, instance = 0, parent = 0;
    when->has_pebs = args_find(args, "pebs") != NULL;
    TRY(args_number(s, args, "pebs", 0, &when->pebs, err));
    TRY(script_frames(s, args_text(args, "counters"), &counters, &count, err));
    TRY(args_number(s, args, "ktime", 0, &kernel_time, err));
    TRY(args_number(s, args, "utime", 0, &user_time, err));
    TRY(args_number(s, args, "instance", 0, &instance, err));
    TRY(args_number(s, args, "parent_instance", 0, &parent, err));
    TRY(args_guid(args, "parent_guid", &when->parent_guid, err));
    if (count > 7) return err_set(err, ERR_ARG, "counters: at most 7");
    when->counters = counters;
    when->counter_count = (unsigned)count;
    when->kernel_time = (uint32_t)kernel_time;
    when->user_time = (uint32_t)user_time;
    when->instance = (uint32_t)instance;
    when->parent_instance = (uint32_t)parent;
    return OK;
}

Status script_when(EtlScript *s, Args *args, EtlBuildEvent *when, Err *err) {
    uint64_t cpu = 0, pointer_size = 0, tid = 0, pid = 0, header = 0;
    Arg *arg = args_find(args, "cpu");
    if (arg && str_eq(arg->value, STR("header"))) {
        when->in_header_buffer = true;
    } else if (arg) {
        TRY(script_number(s, arg->value, &cpu, err));
    }
    TRY(args_number(s, args, "ptr", 0, &pointer_size, err));
    TRY(args_number(s, args, "by", ETL_BUILD_UNKNOWN, &tid, err));
    TRY(args_number(s, args, "by_pid", script_pid(s, (uint32_t)tid), &pid, err));
    arg = args_find(args, "header");
    if (arg) {
        TRY(script_named(s, arg->value, HEADERS, &header, err));
        when->header = (EtlBuildHeader)header;
    }
    if (cpu > 2047) return err_set(err, ERR_ARG, "cpu exceeds 2047");
    if (pointer_size && pointer_size != 4 && pointer_size != 8)
        return err_set(err, ERR_ARG, "ptr is 4 or 8");
    when->cpu = (uint16_t)cpu;
    when->pointer_size = pointer_size ? (unsigned)pointer_size : etl_build_pointer_size(s->build);
    when->tid = (uint32_t)tid;
    when->pid = (uint32_t)pid;
    when->ticks = etl_build_ticks(s->build, args->time_ns);
    return when_extras(s, args, when, err);
}

Status script_emit(EtlScript *s, Args *args, EtlBuildEvent *event, Buf *payload, Err *err) {
    uint64_t cut = payload->n;
    TRY(args_number(s, args, "cut", payload->n, &cut, err));
    if (cut < payload->n) payload->n = cut;
    if (!pay_hex(payload, args_text(args, "extra")))
        return err_set(err, ERR_ARG, "extra: hex digits");
    event->payload = buf_str(payload);
    etl_build_event(s->build, event);
    return OK;
}

// Puts a value or a text into *out for one field.
static Status field_value(EtlScript *s, const Args *args, const BuildField *field, Str text,
                          BuildValue *out, Err *err) {
    int64_t time = 0;
    uint64_t *list = NULL;
    size_t count = 0;
    out->text = text;
    switch (field->type) {
    case T_U8:
    case T_U16:
    case T_U32:
    case T_U64:
    case T_PTR:
    case T_OR: return text.n ? script_named(s, text, field->names, &out->number, err) : OK;
    case T_AT:
        if (text.n) TRY(script_time(text, &time, err));
        time = text.n ? time + s->offset_ns : args->time_ns;
        out->number = (uint64_t)etl_build_ticks(s->build, time);
        return OK;
    case T_SPAN:
        if (text.n) TRY(script_time(text, &time, err));
        out->number = etl_build_duration(s->build, (uint64_t)time);
        return OK;
    case T_PTRS:
    case T_U32S:
        TRY(script_frames(s, text, &list, &count, err));
        out->text = (Str){(const char *)list, count * sizeof *list};
        return OK;
    case T_WSTR:
    case T_ASTR:
    case T_SID:
    case T_GUID:
    case T_PORT:
    case T_IP:
    case T_WCHARS:
    case T_WSTRS:
    case T_COUNT:
    case T_TAG:
    case T_ZEROS:
    case T_ZEROS64:
    case T_TYPES: break;
    }
    return OK;
}

// "took=20us": the start is that long before the event.
static Status apply_took(EtlScript *s, Args *args, const BuildField *field, BuildValue *value,
                         Err *err) {
    int64_t took = 0;
    if (field->type != T_AT || !str_eq(str_from_c(field->key), STR("start"))) return OK;
    if (!args_find(args, "took")) return OK;
    TRY(args_span(args, "took", 0, &took, err));
    value->number = (uint64_t)etl_build_ticks(s->build, args->time_ns - took);
    return OK;
}

static Status record_values(EtlScript *s, Args *args, const BuildRecord *record, unsigned version,
                            BuildValue *values, Err *err) {
    INVARIANT(record->count <= BUILD_FIELDS_MAX);
    for (size_t i = 0; i < record->count; i++) {
        const BuildField *field = &record->fields[i];
        values[i] = (BuildValue){0};
        if (!field->key || !build_field_in(field, version)) continue;
        Arg *arg = args_find(args, field->key);
        Str text = arg ? arg->value : str_from_c(field->fallback);
        Err why = {0};
        if (field_value(s, args, field, text, &values[i], &why) != OK)
            return err_set(err, ERR_ARG, "%s: %s", field->key, why.text);
        TRY(apply_took(s, args, field, &values[i], err));
    }
    return OK;
}

static bool verb_starts(const Args *args, const char *prefix) {
    return str_starts(args->verb, str_from_c(prefix));
}

// What later lines refer to: processes of threads, images by name.
static Status remember(EtlScript *s, Args *args, Err *err) {
    uint64_t tid = 0, pid = 0, base = 0;
    if (verb_starts(args, "thread ")) {
        TRY(args_number(s, args, "tid", 0, &tid, err));
        TRY(args_number(s, args, "pid", 0, &pid, err));
        if (!verb_starts(args, "thread end")) *map_put(&s->pid_of_tid, tid, pid, NULL) = pid;
    } else if (verb_starts(args, "image load") || verb_starts(args, "image rundown")) {
        TRY(args_number(s, args, "base", 0, &base, err));
        TRY(args_number(s, args, "pid", 0, &pid, err));
        Str path = args_text(args, "name");
        size_t slash = str_rfind_char(path, '\\');
        Str name = slash == SIZE_MAX ? path : str_slice(path, slash + 1, path.n);
        *vec_push(&s->images) = (Image){str_copy(&s->arena, name), (uint32_t)pid, base};
    }
    return OK;
}

// The identities that a merger injects beside an image event: pdb=, guid=, age=.
static Status inject_identity(EtlScript *s, Args *args, const EtlBuildEvent *event, Err *err) {
    Str pdb = args_text(args, "pdb");
    if (!pdb.n) return OK;
    static const char *const VERBS[] = {"image id", "image pdb"};
    for (size_t i = 0; i < COUNT_OF(VERBS); i++) {
        const BuildRecord *record = etl_build_record(str_from_c(VERBS[i]), BUILD_ANY_VERSION, 0);
        BuildValue values[BUILD_FIELDS_MAX];
        TRY(record_values(s, args, record, record->version_max, values, err));
        uint64_t pid = 0;
        TRY(args_number(s, args, "pid", 0, &pid, err));
        EtlBuildEvent when = {.ticks = event->ticks,
                              .cpu = event->cpu,
                              .pointer_size = event->pointer_size,
                              .tid = ETL_BUILD_UNKNOWN,
                              .pid = (uint32_t)pid};
        etl_build_put(s->build, record, record->version_max, &when, values);
    }
    return OK;
}

// Arguments that a layout lacks but the header has: the issuing thread of older disk events.
static Status header_thread(EtlScript *s, Args *args, const BuildRecord *record, Err *err) {
    bool subject = verb_starts(args, "process ") || verb_starts(args, "thread ") ||
                   verb_starts(args, "image ");
    if (subject || record->header != ETL_BUILD_SYSTEM || args_find(args, "by")) return OK;
    Arg *tid = args_find(args, "tid");
    if (!tid) return OK;
    if (args->count == ARGS_MAX) return err_set(err, ERR_LIMIT, "too many arguments");
    args->items[args->count++] = (Arg){STR("by"), tid->value, false};
    (void)s;
    return OK;
}

static Status stack_thread(EtlScript *s, Args *args, const BuildRecord *record,
                           const EtlBuildEvent *event, uint32_t *tid, Err *err) {
    uint64_t number = event->tid;
    if (record->stack_tid) TRY(args_number(s, args, record->stack_tid, number, &number, err));
    *tid = (uint32_t)number;
    return OK;
}

static Status pick_record(EtlScript *s, Args *args, const BuildRecord **record, unsigned *version,
                          Err *err) {
    uint32_t os_build = etl_build_options(s->build)->os_build;
    *record = etl_build_record(args->verb, BUILD_ANY_VERSION, os_build);
    if (!*record) return OK;
    uint64_t wanted = (*record)->version_max;
    if (args_find(args, "version")) {
        TRY(args_number(s, args, "version", 0, &wanted, err));
        const BuildRecord *exact = etl_build_record(args->verb, (int)(wanted & 0xFF), os_build);
        // An unknown version is written with the newest layout: what a reader of the future sees.
        if (exact) *record = exact;
    }
    *version = (unsigned)wanted & 0xFF;
    return OK;
}

Status script_record(EtlScript *s, Args *args, bool *known, Err *err) {
    const BuildRecord *record = NULL;
    unsigned version = 0;
    uint32_t tid = 0;
    TRY(pick_record(s, args, &record, &version, err));
    if (!record) return OK;
    *known = true;
    TRY(header_thread(s, args, record, err));
    EtlBuildEvent event = {.header = record->header};
    TRY(script_when(s, args, &event, err));
    BuildValue values[BUILD_FIELDS_MAX];
    TRY(record_values(s, args, record, version, values, err));
    AUTO(buf_done) Buf payload = {0};
    if (!etl_build_fields(&payload, event.pointer_size, record, version, values))
        return err_set(err, ERR_ARG, "malformed SID, GUID, address or port");
    event.version = (uint16_t)version;
    event.hook = etl_build_hook(record, values);
    event.opcode = (uint8_t)record->hook;
    if (record->class_guid) event.guid = pay_guid_from_c(record->class_guid);
    TRY(remember(s, args, err));
    TRY(script_emit(s, args, &event, &payload, err));
    if (verb_starts(args, "image ") && !record->class_guid)
        TRY(inject_identity(s, args, &event, err));
    TRY(stack_thread(s, args, record, &event, &tid, err));
    return script_stacks(s, args, &event, tid, err);
}

static bool is_kernel_address(const EtlBuildEvent *event, uint64_t address) {
    return event->pointer_size == 4 ? address >= 0x80000000u : (address >> 47 & 1) != 0;
}

typedef struct Stack {
    const uint64_t *frames;
    size_t count;
    uint32_t tid, pid;
    int64_t event_ticks;
    bool keyed;
} Stack;

static uint64_t key_of(EtlScript *s, const Stack *stack) {
    size_t bytes = stack->count * sizeof *stack->frames;
    uint64_t hash = bytes_hash(stack->frames, bytes, 7);
    bool added = false;
    uint64_t *key = map_put(&s->key_of_hash, hash, 0, &added);
    if (!added) return *key;
    bool small = etl_build_pointer_size(s->build) == 4;
    *key = (small ? 0x8A000000u : 0xFFFF8A0000000000u) + s->keys.count * 0x40;
    *vec_push(&s->keys) = (KeyedStack){*key, stack->frames, stack->count};
    return *key;
}

static void put_stack(EtlScript *s, const EtlBuildEvent *when, const Stack *stack, bool kernel) {
    const char *verb = !stack->keyed ? "stack walk" : kernel ? "stack kernel" : "stack user";
    const BuildRecord *record = etl_build_record(str_from_c(verb), BUILD_ANY_VERSION, 0);
    BuildValue values[] = {
        {(uint64_t)stack->event_ticks, {0}                                                           },
        {stack->pid,                   {0}                                                           },
        {stack->tid,                   {0}                                                           },
        {0,                            {(const char *)stack->frames, stack->count * sizeof(uint64_t)}}
    };
    if (stack->keyed) values[3].number = key_of(s, stack);
    etl_build_put(s->build, record, record->version_max, when, values);
}

// One record, or with keys one for each part: key references are kernel or user, never both.
static void put_parts(EtlScript *s, const EtlBuildEvent *when, Stack stack) {
    size_t kernel = 0;
    while (kernel < stack.count && is_kernel_address(when, stack.frames[kernel])) kernel++;
    if (!stack.keyed || kernel == 0 || kernel == stack.count) {
        put_stack(s, when, &stack, kernel > 0);
        return;
    }
    Stack user = stack;
    user.frames += kernel;
    user.count -= kernel;
    stack.count = kernel;
    put_stack(s, when, &stack, true);
    put_stack(s, when, &user, false);
}

Status script_put_stack(EtlScript *s, const EtlBuildEvent *event, uint32_t tid, Str frames,
                        Err *err) {
    Stack stack = {.tid = tid,
                   .pid = tid == 0 ? 0 : script_pid(s, tid),
                   .event_ticks = event->ticks,
                   .keyed = s->keyed_stacks};
    uint64_t *list = NULL;
    TRY(script_frames(s, frames, &list, &stack.count, err));
    stack.frames = list;
    EtlBuildEvent when = {.cpu = event->cpu, .ticks = event->ticks + 1};
    when.pointer_size = etl_build_pointer_size(s->build);
    if (stack.count) put_parts(s, &when, stack);
    return OK;
}

// The record of a stack is logged just after its event; the user part, when apart, when the thread
// returns to user mode: ustack_after, ustack_cpu.
Status script_stacks(EtlScript *s, Args *args, const EtlBuildEvent *event, uint32_t tid, Err *err) {
    static const char *const KEYS[] = {"stack", "kstack", "ustack"};
    uint64_t stack_tid = 0, pid = 0, keyed = 0, user_cpu = 0;
    int64_t delay = 0, user_delay = 0;
    TRY(args_number(s, args, "stack_tid", tid, &stack_tid, err));
    uint32_t owner = stack_tid == 0 ? 0 : script_pid(s, (uint32_t)stack_tid);
    TRY(args_number(s, args, "stack_pid", owner, &pid, err));
    TRY(args_number(s, args, "keys", s->keyed_stacks, &keyed, err));
    TRY(args_span(args, "stack_after", 0, &delay, err));
    TRY(args_span(args, "ustack_after", 0, &user_delay, err));
    TRY(args_number(s, args, "ustack_cpu", event->cpu, &user_cpu, err));
    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
        Arg *arg = args_find(args, KEYS[i]);
        if (!arg) continue;
        Stack stack = {.tid = (uint32_t)stack_tid,
                       .pid = (uint32_t)pid,
                       .event_ticks = event->ticks,
                       .keyed = keyed != 0};
        uint64_t *list = NULL;
        Err why = {0};
        if (script_frames(s, arg->value, &list, &stack.count, &why) != OK)
            return err_set(err, ERR_ARG, "%s: %s", KEYS[i], why.text);
        stack.frames = list;
        uint64_t later = etl_build_duration(s->build, (uint64_t)(i == 2 ? user_delay : delay));
        EtlBuildEvent when = {.cpu = i == 2 ? (uint16_t)user_cpu : event->cpu,
                              .ticks = event->ticks + 1 + (i == 2) + (int64_t)later,
                              .pointer_size = event->pointer_size};
        put_parts(s, &when, stack);
    }
    return OK;
}

// Real traces define keys behind all references: when the session stops.
Status script_define_keys(EtlScript *s, Err *err) {
    const BuildRecord *record = etl_build_record(STR("stack rundown"), BUILD_ANY_VERSION, 0);
    EtlBuildEvent when = {.ticks = etl_build_ticks(s->build, s->last_ns) + 1000};
    for (size_t i = 0; i < s->keys.count; i++) {
        const KeyedStack *k = &s->keys.items[i];
        BuildValue values[] = {
            {k->key, {0}                                    },
            {0,      {(const char *)k->frames, k->count * 8}}
        };
        etl_build_put(s->build, record, record->version_max, &when, values);
    }
    s->keys.count = 0;
    (void)err;
    return OK;
}
