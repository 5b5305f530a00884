// Tables of disk events.
#include "decode/tables.h"

static const ColumnDef DISK_IO_COLUMNS[] = {
    {"ts_ns",       COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",         COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",         COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",        COL_U32,  "Process (process.upid)"                                      },
    {"utid",        COL_U32,  "Thread (thread.utid)"                                        },
    {"kind",        COL_TEXT, "read, write or flush"                                        },
    {"disk",        COL_U32,  "Disk number"                                                 },
    {"bytes",       COL_U32,  "Bytes moved; NULL for a flush"                               },
    {"offset",      COL_U64,  "Byte offset on the disk; NULL for a flush"                   },
    {"start_ns",    COL_I64,  "When the request began; ts_ns is its completion"             },
    {"response_ns", COL_I64,  "ts_ns - start_ns, queueing included"                         },
    {"irp",         COL_U64,  "IRP address"                                                 },
    {"irp_flags",   COL_U32,  "IRP flags"                                                   },
    {"io_priority", COL_U8,   "0 not set, 1 very low .. 5 critical"                         },
    {"file_key",    COL_U64,  "Joins file_name.file_key"                                    },
    {"file",        COL_TEXT, "File name, when known"                                       },
    {"stack_id",    COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
};

const TableDef TABLE_DISK_IO = {"disk_io", "One completed disk transfer or flush", DISK_IO_COLUMNS,
                                COUNT_OF(DISK_IO_COLUMNS)};

static const ColumnDef DISK_IO_INIT_COLUMNS[] = {
    {"ts_ns",    COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",      COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",      COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",     COL_U32,  "Process (process.upid)"                                      },
    {"utid",     COL_U32,  "Thread (thread.utid)"                                        },
    {"kind",     COL_TEXT, "read, write or flush"                                        },
    {"irp",      COL_U64,  "IRP address; joins disk_io.irp"                              },
    {"stack_id", COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
};

const TableDef TABLE_DISK_IO_INIT = {"disk_io_init", "One disk request at its start",
                                     DISK_IO_INIT_COLUMNS, COUNT_OF(DISK_IO_INIT_COLUMNS)};
