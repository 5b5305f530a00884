// Tables of file events.
#include "decode/tables.h"

static const ColumnDef FILE_NAME_COLUMNS[] = {
    {"ts_ns",    COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",      COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",      COL_U16,  "Processor index of the buffer the event came from"           },
    {"file_key", COL_U64,  "File key (FCB) or file object"                               },
    {"kind",     COL_TEXT, "name, create, delete or rundown"                             },
    {"name",     COL_TEXT, "Path as recorded"                                            },
    {"path",     COL_TEXT, "Path with a drive letter where the volume is known"          },
};

const TableDef TABLE_FILE_NAME = {"file_name", "One name of a file object or file key",
                                  FILE_NAME_COLUMNS, COUNT_OF(FILE_NAME_COLUMNS)};

static const ColumnDef FILE_IO_COLUMNS[] = {
    {"ts_ns",           COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",             COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",             COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",            COL_U32,  "Process (process.upid)"                                      },
    {"utid",            COL_U32,  "Thread (thread.utid)"                                        },
    {"kind",            COL_TEXT,
     "create, cleanup, close, read, write, set_info, delete, rename, dir_enum, flush, query_info, "
     "fs_control, dir_notify ..."                                                               },
    {"irp",             COL_U64,  "IRP address"                                                 },
    {"file_object",     COL_U64,  "Handle-level object"                                         },
    {"file_key",        COL_U64,  "File (FCB)"                                                  },
    {"file",            COL_TEXT, "Path, when known"                                            },
    {"offset",          COL_U64,  "Byte offset"                                                 },
    {"bytes",           COL_U32,  "Bytes asked for"                                             },
    {"info_class",      COL_U32,  "Information class"                                           },
    {"extra_info",      COL_U64,  "Extra information as recorded"                               },
    {"create_options",  COL_U32,  "Options; the top 8 bits are the disposition"                 },
    {"file_attributes", COL_U32,  "Attributes asked for"                                        },
    {"share_access",    COL_U32,  "Share access"                                                },
    {"io_flags",        COL_U32,  "IRP flags"                                                   },
    {"end_ns",          COL_I64,  "Completion; NULL when not recorded"                          },
    {"status",          COL_U32,  "NTSTATUS of the completion"                                  },
    {"information",     COL_U64,  "IoStatus information: bytes moved for read and write"        },
    {"stack_id",        COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
};

const TableDef TABLE_FILE_IO = {"file_io", "One file operation, with its completion where recorded",
                                FILE_IO_COLUMNS, COUNT_OF(FILE_IO_COLUMNS)};
