// Environment variables. ETW_MCP_* with WPR_MCP_* as the old names; the new name wins.
#include "tools/engine_internal.h"

static const uint64_t WORKER_MEMORY_BYTES = UINT64_C(4096) << 20;

static Str env_named(const Engine *engine, const char *name, Arena *arena) {
    Str value = os_env(str_format(arena, "ETW_MCP_%s", name).p);
    if (value.n) return value;
    value = os_env(str_format(arena, "WPR_MCP_%s", name).p);
    if (value.n)
        engine_log(engine, "warning", "An old name is used: variable=WPR_MCP_%s, now=ETW_MCP_%s",
                   name, name);
    return value;
}

static double env_number(const Engine *engine, const char *name, double fallback, double low,
                         Arena *arena) {
    Str text = env_named(engine, name, arena);
    double value = 0;
    if (!text.n) return fallback;
    if (str_to_f64(str_trim(text), &value) && value >= low) return value;
    engine_log(engine, "warning",
               "A variable is not a number of at least %g and is not used: variable=ETW_MCP_%s",
               low, name);
    return fallback;
}

// Set for the program this one replaces; nothing here depends on them.
static const char *const ACCEPTED[] = {
    "DOTNET_SIDECAR",
    "DBGHELP",
    "SYMSRV",
    "NATIVE_MAX_ETL_MB",
    "NATIVE_ALLOW_LARGE",
    "NATIVE_STREAMING",
    "NATIVE_STREAMING_PROFILE",
    "NATIVE_WORKER",
    "NATIVE_WORKER_DISABLE_JOB",
    "NATIVE_WORKER_STALE_SECONDS",
    "NATIVE_WORKER_SYMBOL_PATH",
    "CSHARP_SIDECAR",
};

static void read_settings(Engine *engine) {
    Arena *arena = &engine->arena;
    Settings *settings = &engine->settings;
    settings->load_wait_seconds = env_number(engine, "LOAD_WAIT", 20, 0, arena);
    settings->load_stale_seconds = (int64_t)env_number(engine, "LOAD_STALE_SECONDS", 120, 1, arena);
    settings->heartbeat_seconds = env_number(engine, "LOAD_HEARTBEAT_SECONDS", 1, 0.05, arena);
    settings->extract_mbps = env_number(engine, "EXTRACT_MBPS", 22, 0.001, arena);
    settings->load_timeout_seconds =
        (int64_t)env_number(engine, "NATIVE_WORKER_TIMEOUT_SECONDS", 0, 0, arena);
    // Of the child as its memory limit (0: none), of this process as its cap.
    double memory_mb = env_number(engine, "NATIVE_WORKER_MEMORY_MB", -1, 0, arena);
    uint64_t memory_bytes = memory_mb > 0 && memory_mb < 1e9 ? (uint64_t)(memory_mb * 1048576) : 0;
    settings->memory_bytes = memory_bytes ? memory_bytes : os_memory_bytes() / 4;
    settings->worker_memory_bytes = memory_mb < 0 ? WORKER_MEMORY_BYTES : memory_bytes;
    settings->mode = env_named(engine, "MODE", arena);
    settings->export_folder = env_named(engine, "EVIDENCE_PATH", arena);
    settings->symbol_path = symbol_path_from_environment(arena);
    settings->no_download = str_eq(env_named(engine, "NO_AUTO_DOWNLOAD", arena), STR("1"));
    for (size_t i = 0; i < COUNT_OF(ACCEPTED); i++)
        if (env_named(engine, ACCEPTED[i], arena).n)
            engine_log(engine, "info", "A variable has no effect here: variable=ETW_MCP_%s",
                       ACCEPTED[i]);
}

const Settings *engine_settings(Engine *engine) {
    mutex_lock(&engine->mutex);
    if (!engine->settled) read_settings(engine);
    engine->settled = true;
    mutex_unlock(&engine->mutex);
    return &engine->settings;
}
