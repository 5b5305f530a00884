// Damage and loss, counted by kind, and their texts.
#include "etl/etl.h"

typedef struct IssueSpec {
    const char *name;
    const char *text;
    EtlSeverity severity;
} IssueSpec;

static const IssueSpec SPECS[ETL_ISSUE_KINDS] = {
    [ETL_ISSUE_TRUNCATED_FILE] = {"truncated_file",
                                  "The file ends inside a buffer; the events before the cut are "
                                  "used.",                                                            ETL_DATA_LOSS},
    [ETL_ISSUE_BAD_BUFFER_HEADER] = {"bad_buffer_header",
                                  "A buffer header is damaged; the bytes up to the next sound "
                                     "one are skipped.",                                              ETL_DATA_LOSS},
    [ETL_ISSUE_ZERO_TAIL] = {"zero_tail",
                                  "Zeros follow the last event: the file was preallocated or its "
                             "session did not stop cleanly.",                                         ETL_INFO     },
    [ETL_ISSUE_BAD_COMPRESSION] = {"bad_compression",
                                  "A compressed buffer does not inflate to its length; the part "
                                   "that came out is used.",                                          ETL_DATA_LOSS},
    [ETL_ISSUE_BAD_EVENT] = {"bad_event",
                                  "An event header is damaged; the rest of its buffer is skipped.",   ETL_DATA_LOSS},
    [ETL_ISSUE_BAD_EXTENDED_ITEM] = {"bad_extended_item",
                                  "The extended items of an event are damaged; its payload "
                                     "cannot be located.",                                            ETL_DATA_LOSS},
    [ETL_ISSUE_TIME_BACKWARDS] = {"time_backwards",
                                  "A timestamp is lower than the one before it in the same "
                                  "stream.",                                                          ETL_INFO     },
    [ETL_ISSUE_EVENTS_LOST_FLAG] = {"events_lost_flag",
                                  "The recording session marked a buffer: events were lost "
                                    "before it or in it.",                                            ETL_DATA_LOSS},
    [ETL_ISSUE_BUFFERS_LOST_FLAG] = {"buffers_lost_flag",
                                  "The recording session marked a buffer: whole buffers were "
                                     "lost.",                                                         ETL_DATA_LOSS},
    [ETL_ISSUE_RT_CORRUPT_FLAG] = {"rt_corrupt_flag",
                                  "A buffer is marked as taken from a damaged real-time backup "
                                   "file.",                                                           ETL_DATA_LOSS},
    [ETL_ISSUE_SEQUENCE_GAP] = {"sequence_gap",
                                  "Buffer sequence numbers are missing; buffers may have been lost.",
                                  ETL_INFO                                                                         },
    [ETL_ISSUE_BAD_HEADER_EVENT] = {"bad_header_event",
                                  "The trace's own description is short or absurd; defaults "
                                    "are used, and times may be wrong.",                              ETL_DATA_LOSS},
    [ETL_ISSUE_UNKNOWN_BUFFER_TYPE] = {"unknown_buffer_type",
                                  "A buffer has a type that is not known.",                           ETL_INFO     },
    [ETL_ISSUE_FILE_GREW] = {"file_grew",
                                  "The file grew while it was read: it is still being recorded or "
                             "copied. What was there at first is used; load it again when it is "
                             "complete.",                                                             ETL_DATA_LOSS},
};

void etl_issue(EtlIssues *issues, EtlIssueKind kind, uint64_t offset, uint64_t bytes) {
    if (issues->count[kind]++ == 0 || offset < issues->first_offset[kind])
        issues->first_offset[kind] = offset;
    issues->bytes[kind] += bytes;
}

void etl_issues_add(EtlIssues *into, const EtlIssues *from) {
    for (int kind = 0; kind < ETL_ISSUE_KINDS; kind++) {
        if (from->count[kind] == 0) continue;
        if (into->count[kind] == 0 || from->first_offset[kind] < into->first_offset[kind])
            into->first_offset[kind] = from->first_offset[kind];
        into->count[kind] += from->count[kind];
        into->bytes[kind] += from->bytes[kind];
    }
}

const char *etl_issue_name(EtlIssueKind kind) {
    return (unsigned)kind < ETL_ISSUE_KINDS ? SPECS[kind].name : "unknown";
}

const char *etl_issue_text(EtlIssueKind kind) {
    return (unsigned)kind < ETL_ISSUE_KINDS ? SPECS[kind].text : "Unknown damage.";
}

EtlSeverity etl_issue_severity(EtlIssueKind kind) {
    return (unsigned)kind < ETL_ISSUE_KINDS ? SPECS[kind].severity : ETL_DATA_LOSS;
}
