// etw-mcp providers: docs/providers.md, the built-in tables and how events get their fields.
#include "cli/cli.h"

#include "decode/builtin.h"

static const char TEXT[] =
    "# Events and their fields\n"
    "\n"
    "Every event that has no table of its own is a row of the view `event`; its column `fields` is "
    "a\n"
    "JSON object of all its fields. What describes an event is found when the trace is loaded and\n"
    "kept with it (`event_class.schema`), so later answers need neither the trace nor a manifest.\n"
    "`event_class.decoded_by` says what it was:\n"
    "\n"
    "| decoded_by | source |\n"
    "| --- | --- |\n"
    "| `kernel`, `kernel nearest version` | layouts of kernel events |\n"
    "| `tracelogging` | metadata that the event carries itself, whatever its id |\n"
    "| `embedded` | event descriptions that the merge tool put into the trace |\n"
    "| `eventsource` | the manifest that an EventSource provider logged; processes may differ |\n"
    "| `user manifest` | a `.man` file of the folder `ETW_MCP_MANIFESTS` |\n"
    "| `builtin exact`, `builtin nearest` | the tables below; nearest: a newer version of the "
    "event, "
    "read\nas the newest known one |\n"
    "| `tmf` | a TMF file of the folder `ETW_MCP_TMF` (WPP messages) |\n"
    "| `none: ...` | nothing: the payload is shown in hexadecimal, with the reason |\n"
    "\n"
    "They are asked in this order. Load a trace again with `force` after adding manifests or TMF "
    "files.\n"
    "A folder or a file of it that cannot be read is named in the reason of the events that "
    "nothing\n"
    "describes.\n"
    "\n"
    "## Values\n"
    "\n"
    "- Integers are numbers up to 2^53 and decimal text above; pointers and what is declared\n"
    "  hexadecimal are text such as `\"0x7ff6\"`.\n"
    "- A value with a label in a value map is the label; a bit map gives `A|B`, unknown bits in\n"
    "  hexadecimal. A value without a label stays a number.\n"
    "- NTSTATUS is `\"0xc0000236 CONNECTION_REFUSED\"` where the code is known. Times are ISO 8601 "
    "in\n"
    "  UTC. Addresses are `\"10.0.0.1:443\"` and `\"[fe80::1]:443\"`, ports numbers in their right "
    "order.\n"
    "- Structures are objects, arrays are lists, bytes are hexadecimal text.\n"
    "- Fields of the same name get `_2`, `_3`; a field without a name is `field0`, by its "
    "position.\n"
    "- Keys that begin with `_` are ours: `_missing` names the first field that the payload no "
    "longer\n"
    "  holds, `_extra_bytes` counts what is left behind the last one, `_cut` says that a limit "
    "ended\n"
    "  the output, `_message` is the text of a WPP message, `_raw` and `_why` stand for the fields "
    "of\n"
    "  an event without a description.\n"
    "\n"
    "## In SQL\n"
    "\n"
    "```sql\n"
    "SELECT fields->>'Url' FROM event WHERE provider_name = 'Microsoft-Windows-HttpService';\n"
    "\n"
    "-- Some fields of many events: several times faster than the whole object.\n"
    "SELECT event_field_u64(class_id, payload, 'MethodStartAddress'),\n"
    "       event_field_i64(class_id, payload, 'MethodSize'),\n"
    "       event_field_text(class_id, payload, 'MethodName')\n"
    "FROM event WHERE event_name = 'MethodLoadVerbose_V1';\n"
    "```\n"
    "\n"
    "`event_field_f64` gives numbers of any kind; all of them give NULL where the event has no "
    "such\n"
    "field. Numbers come raw (a mapped value's number, not its label), text as the JSON shows it.\n"
    "Members of single structures are `'Struct.Member'`. `event_field_names(class_id)` lists what "
    "an\n"
    "event has. `activity` and `activity_event` follow activities across threads and providers.\n"
    "\n"
    "Two kinds of events hold more than their descriptions say and are read as they are: the "
    "stacks of\n"
    ".NET event 82 (as many addresses as FrameCount says) and the padded elements of 208; the\n"
    "connection ids of Kernel-Network have pointer size. Of the runtime's private provider, event "
    "4\n"
    "(heap history before .NET 4.6) has no published layout: its bytes are one field.\n"
    "\n"
    "## Built-in tables\n"
    "\n"
    "| provider | GUID | events | layouts |\n"
    "| --- | --- | --- | --- |\n";

ExitCode command_providers(Cli *cli) {
    Builtin *builtin = builtin_open();
    AUTO(buf_done) Buf out = {0};
    BuiltinInfo info;
    (void)cli;
    buf_add_c(&out, TEXT);
    for (size_t i = 0; builtin_info(builtin, i, &info); i++) {
        char guid[GUID_TEXT_SIZE];
        guid_to_text(&info.guid, guid);
        buf_addf(&out, "| " STR_FMT " | `%s` | %zu | %zu |\n", STR_ARG(info.name), guid,
                 info.events, info.layouts);
    }
    out_text(buf_str(&out));
    builtin_close(builtin);
    return EXIT_OK;
}
