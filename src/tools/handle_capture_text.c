// The commands of a capture as PowerShell. Nothing runs here: a person or a client runs them on the
// traced machine. Paths come from the caller and are quoted as literals.
#include "tools/handle_capture.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_BYTES = 2048, PATH_BYTES = 1000 };

DocSection *capture_section(Doc *doc, const char *name, Str heading, SectionStyle style) {
    DocSection *section = doc_table(doc, str_from_c(name), heading);
    section->style = style;
    doc_column(doc, section, "Line", "text(1000)");
    return section;
}

void capture_line(Doc *doc, DocSection *section, const char *format, ...) {
    char text[LINE_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    doc_row(doc, section)[0] = cell_text(str_copy(doc->arena, str_from_c(text)));
}

Status capture_path_check(Str path, Err *err) {
    static const char FORBIDDEN[] = "\"<>|?*";
    if (!str_trim(path).n)
        return err_set(err, ERR_ARG,
                       "output_path is blank: give the path of the .etl file on the target, as in "
                       "C:\\traces\\capture.etl");
    if (path.n > PATH_BYTES)
        return err_set(err, ERR_LIMIT, "output_path is longer than %d bytes", (int)PATH_BYTES);
    for (size_t i = 0; i < path.n; i++) {
        unsigned char c = (unsigned char)path.p[i];
        if (c < 32 || c == 127)
            return err_set(err, ERR_ARG, "output_path holds a control character (byte %zu)", i);
        for (size_t k = 0; FORBIDDEN[k]; k++)
            if (path.p[i] == FORBIDDEN[k])
                return err_set(err, ERR_ARG,
                               "output_path holds '%c', which no Windows file name can hold",
                               path.p[i]);
    }
    return OK;
}

// PowerShell ends a literal at the typographic quotes U+2018 to U+201B, too: each is doubled.
static size_t quote_bytes(Str text, size_t at) {
    if (text.p[at] == '\'') return 1;
    Str rest = str_slice(text, at, text.n);
    static const char *const MARKS[] = {"\xe2\x80\x98", "\xe2\x80\x99", "\xe2\x80\x9a",
                                        "\xe2\x80\x9b"};
    for (size_t i = 0; i < COUNT_OF(MARKS); i++)
        if (str_starts(rest, str_from_c(MARKS[i]))) return str_from_c(MARKS[i]).n;
    return 0;
}

Str capture_quote(Str text, Arena *arena) {
    Buf out = {0};
    buf_add_char(&out, '\'');
    for (size_t i = 0; i < text.n;) {
        size_t quote = quote_bytes(text, i), bytes = quote ? quote : 1;
        for (unsigned times = quote ? 2 : 1; times > 0; times--)
            buf_add(&out, str_slice(text, i, i + bytes));
        i += bytes;
    }
    buf_add_char(&out, '\'');
    Str quoted = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return quoted;
}

// Either separator, on any system: the path belongs to the target.
static size_t last_separator(Str path) {
    size_t at = SIZE_MAX;
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] == '\\' || path.p[i] == '/') at = i;
    return at;
}

static Str target_folder(Str path) {
    size_t at = last_separator(path);
    Str folder = at == SIZE_MAX ? (Str){0} : str_slice(path, 0, at);
    return folder.n && !str_ends(folder, STR(":")) ? folder : (Str){0};
}

static Str without_extension(Str path) {
    size_t dot = str_rfind_char(path, '.'), separator = last_separator(path);
    bool has = dot != SIZE_MAX && (separator == SIZE_MAX || dot > separator + 1) && dot > 0;
    return has ? str_slice(path, 0, dot) : path;
}

Str capture_start_command(const CaptureOrder *order, bool to_memory, Arena *arena) {
    const Scenario *scenario = order->scenario;
    const char *mode = to_memory ? "" : " -filemode";
    if (scenario->kind == CAPTURE_PKTMON)
        return str_format(arena, "pktmon start --capture --pkt-size 0 -f " STR_FMT,
                          STR_ARG(capture_quote(order->path, arena)));
    if (scenario->kind == CAPTURE_PROFILE)
        return str_format(arena, "wpr -start .\\%s.wprp%s", scenario->name, mode);
    Buf out = {0};
    buf_add_c(&out, "wpr");
    Str rest = str_from_c(scenario->built_in), name = {0};
    while (str_next(&rest, ' ', &name)) buf_addf(&out, " -start " STR_FMT, STR_ARG(name));
    buf_add_c(&out, mode);
    Str text = str_copy(arena, buf_str(&out));
    buf_done(&out);
    return text;
}

// Before the start: a session that still runs, the folder, filters.
static void put_preparation(Doc *doc, DocSection *code, const CaptureOrder *order) {
    Str folder = target_folder(order->path);
    bool packets = order->scenario->kind == CAPTURE_PKTMON;
    capture_line(doc, code, "# Before: nothing may be recording (%s ends a forgotten recording)",
                 packets ? "pktmon stop" : "wpr -cancel");
    capture_line(doc, code, "%s", packets ? "pktmon status" : "wpr -status");
    if (folder.n)
        capture_line(doc, code, "New-Item -ItemType Directory -Force -Path " STR_FMT " | Out-Null",
                     STR_ARG(capture_quote(folder, doc->arena)));
    if (!packets) return;
    capture_line(doc, code,
                 "# Filters keep the file small (any number; \"pktmon filter remove\" "
                 "removes all):");
    capture_line(doc, code, "# pktmon filter add <NAME> -t TCP -p <PORT>");
    capture_line(doc, code, "# pktmon filter add <NAME> -i <ADDRESS>");
}

void capture_prepare_section(Doc *doc, const CaptureOrder *order, Str heading) {
    DocSection *code = capture_section(doc, "prepare", heading, STYLE_CODE);
    code->fence = STR("powershell");
    put_preparation(doc, code, order);
}

static void put_stop(Doc *doc, DocSection *code, const CaptureOrder *order, Str path) {
    if (order->scenario->kind == CAPTURE_PKTMON) {
        Str stem = without_extension(order->path);
        Str names = str_format(doc->arena, STR_FMT ".components.txt", STR_ARG(stem));
        capture_line(doc, code, "# 3. Stop; the list names the components that packets pass");
        capture_line(doc, code, "pktmon comp list --all | Out-File -Encoding utf8 " STR_FMT,
                     STR_ARG(capture_quote(names, doc->arena)));
        capture_line(doc, code, "pktmon stop");
        return;
    }
    capture_line(doc, code, "# 3. Stop: merges the sessions and writes the file");
    capture_line(doc, code, "wpr -stop " STR_FMT, STR_ARG(path));
}

void capture_run_section(Doc *doc, const CaptureOrder *order, Str heading) {
    Str path = capture_quote(order->path, doc->arena);
    DocSection *code = capture_section(doc, "commands", heading, STYLE_CODE);
    code->fence = STR("powershell");
    put_preparation(doc, code, order);
    capture_line(doc, code, "# 1. Start");
    Str start = capture_start_command(order, order->to_memory, doc->arena);
    capture_line(doc, code, STR_FMT, STR_ARG(start));
    if (order->scenario->kind != CAPTURE_PKTMON) {
        Str other = capture_start_command(order, !order->to_memory, doc->arena);
        capture_line(doc, code, "# or, %s: " STR_FMT,
                     order->to_memory ? "written to a file all along"
                                      : "kept in memory until the stop",
                     STR_ARG(other));
    }
    capture_line(doc, code, "# 2. Reproduce the problem meanwhile");
    capture_line(doc, code, "Start-Sleep -Seconds %lld", (long long)order->seconds);
    put_stop(doc, code, order, path);
    capture_line(doc, code, "# 4. Verify");
    capture_line(doc, code, "Get-Item " STR_FMT " | Select-Object FullName, Length, LastWriteTime",
                 STR_ARG(path));
    if (order->scenario->kind != CAPTURE_PKTMON) return;
    Str packets = str_format(doc->arena, STR_FMT ".pcapng", STR_ARG(order->path));
    capture_line(doc, code, "# For packet tools: pktmon etl2pcap " STR_FMT " -o " STR_FMT,
                 STR_ARG(path), STR_ARG(capture_quote(packets, doc->arena)));
}

void capture_xml_section(Doc *doc, Str xml, Str heading) {
    DocSection *code = capture_section(doc, "profile", heading, STYLE_CODE);
    code->fence = STR("xml");
    Str rest = xml, line = {0};
    while (str_next(&rest, '\n', &line)) {
        if (str_ends(line, STR("\r"))) line = str_slice(line, 0, line.n - 1);
        doc_row(doc, code)[0] = cell_text(line.n ? line : STR(""));
    }
}
