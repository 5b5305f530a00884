// Tables of network events.
#include "decode/tables.h"

static const ColumnDef TCP_EVENT_COLUMNS[] = {
    {"ts_ns",           COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",             COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",             COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",            COL_U32,  "Process"                                                     },
    {"source",          COL_TEXT, "kernel (TcpIp class) or kernel_network (manifest provider)"  },
    {"kind",            COL_TEXT,
     "send, receive, connect, disconnect, retransmit, accept, reconnect, copy or fail"          },
    {"ip_version",      COL_U8,   "4 or 6"                                                      },
    {"pid",             COL_U32,  "Process id in the payload"                                   },
    {"bytes",           COL_U32,  "Payload bytes"                                               },
    {"local_address",   COL_TEXT, "Local address"                                               },
    {"local_port",      COL_U32,  "Local port"                                                  },
    {"remote_address",  COL_TEXT, "Remote address"                                              },
    {"remote_port",     COL_U32,  "Remote port"                                                 },
    {"connection_id",   COL_U64,  "As recorded (0 on most systems)"                             },
    {"sequence_number", COL_U32,  "As recorded (0 on most systems)"                             },
    {"mss",             COL_U32,  "Maximum segment size (connect, accept)"                      },
    {"receive_window",  COL_U32,  "Receive window (connect, accept)"                            },
    {"failure_code",    COL_U32,  "Failure code (fail)"                                         },
    {"stack_id",        COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
};

const TableDef TABLE_TCP_EVENT = {"tcp_event",
                                  "One TCP event of the kernel's TcpIp class or of Kernel-Network",
                                  TCP_EVENT_COLUMNS, COUNT_OF(TCP_EVENT_COLUMNS)};

static const ColumnDef UDP_EVENT_COLUMNS[] = {
    {"ts_ns",           COL_I64,  "Nanoseconds since the trace began"                           },
    {"seq",             COL_U64,  "Breaks ties of ts_ns: order of the event in its CPU's stream"},
    {"cpu",             COL_U16,  "Processor index of the buffer the event came from"           },
    {"upid",            COL_U32,  "Process"                                                     },
    {"source",          COL_TEXT, "kernel or kernel_network"                                    },
    {"kind",            COL_TEXT, "send, receive or fail"                                       },
    {"ip_version",      COL_U8,   "4 or 6"                                                      },
    {"pid",             COL_U32,  "Process id in the payload"                                   },
    {"bytes",           COL_U32,  "Payload bytes"                                               },
    {"local_address",   COL_TEXT, "Local address"                                               },
    {"local_port",      COL_U32,  "Local port"                                                  },
    {"remote_address",  COL_TEXT, "Remote address"                                              },
    {"remote_port",     COL_U32,  "Remote port"                                                 },
    {"connection_id",   COL_U64,  "As recorded (0 on most systems)"                             },
    {"sequence_number", COL_U32,  "As recorded (0 on most systems)"                             },
    {"failure_code",    COL_U32,  "Failure code (fail)"                                         },
    {"stack_id",        COL_U32,  "Stack recorded with the event (stack.stack_id)"              },
};

const TableDef TABLE_UDP_EVENT = {"udp_event",
                                  "One UDP event of the kernel's UdpIp class or of Kernel-Network",
                                  UDP_EVENT_COLUMNS, COUNT_OF(UDP_EVENT_COLUMNS)};
