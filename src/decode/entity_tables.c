// Tables of entity_tables events.
#include "decode/tables.h"

static const ColumnDef TRACE_COLUMNS[] = {
    {"file_name",              COL_TEXT, "File name"                                },
    {"size_bytes",             COL_U64,  "File size"                                },
    {"os_major",               COL_U8,   "OS major version"                         },
    {"os_minor",               COL_U8,   "OS minor version"                         },
    {"os_build",               COL_U32,  "OS build"                                 },
    {"build_lab",              COL_TEXT, "Build lab string"                         },
    {"product_name",           COL_TEXT, "Product"                                  },
    {"install_utc",            COL_TEXT, "When the OS was installed"                },
    {"computer_name",          COL_TEXT, "Computer"                                 },
    {"domain_name",            COL_TEXT, "Domain"                                   },
    {"cpu_count",              COL_U32,  "Logical processors, recorded or seen"     },
    {"cpu_mhz",                COL_U32,  "CPU speed"                                },
    {"memory_mb",              COL_U32,  "Physical memory"                          },
    {"page_size",              COL_U32,  "Page size"                                },
    {"architecture",           COL_TEXT, "x86, x64, arm64 ... when recorded"        },
    {"pointer_size",           COL_U8,   "Pointer size of kernel events"            },
    {"clock",                  COL_TEXT, "qpc, system_time or cpu_cycles"           },
    {"ticks_per_s",            COL_U64,  "Raw clock frequency"                      },
    {"start_filetime",         COL_U64,  "Wall clock at ts_ns 0 (100 ns since 1601)"},
    {"start_utc",              COL_TEXT, "The same as text"                         },
    {"duration_ns",            COL_I64,  "Last event's ts_ns, or the recorded end"  },
    {"first_event_ns",         COL_I64,  "First event"                              },
    {"last_event_ns",          COL_I64,  "Last event"                               },
    {"boot_utc",               COL_TEXT, "Boot time as recorded (approximate)"      },
    {"time_zone",              COL_TEXT, "Time zone name"                           },
    {"time_zone_bias_min",     COL_I32,  "UTC = local + bias"                       },
    {"timer_resolution_100ns", COL_U32,  "Unit of clock-tick counts"                },
    {"log_file_mode",          COL_U32,  "LogFileMode bits"                         },
    {"session_name",           COL_TEXT, "Session"                                  },
    {"buffer_size_bytes",      COL_U32,  "Session buffer size"                      },
    {"buffers_written",        COL_U32,  "As recorded"                              },
    {"buffers_read",           COL_U32,  "Buffers used"                             },
    {"compression",            COL_TEXT, "none, xpress, lznt1 or xpress_huffman"    },
    {"events",                 COL_U64,  "Events read"                              },
    {"events_lost",            COL_U32,  "As recorded by the session"               },
    {"buffers_lost",           COL_U32,  "As recorded by the session"               },
    {"group_masks",            COL_TEXT, "Kernel group masks in force (union), hex" },
    {"kernel_event_version",   COL_U32,  "Kernel event version"                     },
};

const TableDef TABLE_TRACE = {"trace", "The trace: one row", TRACE_COLUMNS,
                              COUNT_OF(TRACE_COLUMNS)};

static const ColumnDef TRACE_SOURCE_COLUMNS[] = {
    {"source",      COL_TEXT, "sample, stack, context_switch, ready_thread, dpc, isr, disk_io ..."},
    {"about",       COL_TEXT, "What it is"                                                        },
    {"state",       COL_TEXT, "recorded, enabled (but no event), absent, or unknown"              },
    {"events",      COL_U64,  "Events"                                                            },
    {"first_ts_ns", COL_I64,  "First event"                                                       },
    {"last_ts_ns",  COL_I64,  "Last event"                                                        },
    {"capture",     COL_TEXT, "What records it"                                                   },
};

const TableDef TABLE_TRACE_SOURCE = {"trace_source", "Which data the trace holds, one row per area",
                                     TRACE_SOURCE_COLUMNS, COUNT_OF(TRACE_SOURCE_COLUMNS)};

static const ColumnDef DECODE_ISSUE_COLUMNS[] = {
    {"kind",         COL_TEXT, "Kind"                        },
    {"severity",     COL_TEXT, "info or data_loss"           },
    {"count",        COL_U64,  "How often"                   },
    {"bytes",        COL_U64,  "Bytes not used because of it"},
    {"first_offset", COL_U64,  "File offset of the first"    },
    {"about",        COL_TEXT, "What it means"               },
};

const TableDef TABLE_DECODE_ISSUE = {"decode_issue", "Damage and loss, counted",
                                     DECODE_ISSUE_COLUMNS, COUNT_OF(DECODE_ISSUE_COLUMNS)};

static const ColumnDef PROVIDER_COLUMNS[] = {
    {"provider_id", COL_U32,  "Number in this trace"                          },
    {"guid",        COL_GUID, "Provider, class or message GUID"               },
    {"name",        COL_TEXT, "Name"                                          },
    {"kind",        COL_TEXT, "kernel, manifest, tracelogging, classic or wpp"},
    {"events",      COL_U64,  "Events"                                        },
    {"bytes",       COL_U64,  "Bytes of its events, headers included"         },
    {"first_ts_ns", COL_I64,  "First event"                                   },
    {"last_ts_ns",  COL_I64,  "Last event"                                    },
};

const TableDef TABLE_PROVIDER = {"provider", "One event provider or kernel class", PROVIDER_COLUMNS,
                                 COUNT_OF(PROVIDER_COLUMNS)};

static const ColumnDef EVENT_CLASS_COLUMNS[] = {
    {"class_id",     COL_U32,  "Number in this trace"                                                   },
    {"provider_id",  COL_U32,  "Provider"                                                               },
    {"kind",         COL_TEXT, "kernel, manifest, tracelogging, classic or wpp"                         },
    {"id",           COL_U16,  "Event id or WPP message number"                                         },
    {"version",      COL_U8,   "Event version"                                                          },
    {"opcode",       COL_U8,   "Opcode or hook type"                                                    },
    {"level",        COL_U8,   "Level"                                                                  },
    {"channel",      COL_U8,   "Channel"                                                                },
    {"task",         COL_U16,  "Task"                                                                   },
    {"keyword",      COL_U64,  "Keywords"                                                               },
    {"hook",         COL_U16,  "Kernel hook id; 0 for others"                                           },
    {"pointer_size", COL_U8,   "4 or 8"                                                                 },
    {"event_name",   COL_TEXT, "Name"                                                                   },
    {"task_name",    COL_TEXT, "Task name"                                                              },
    {"opcode_name",  COL_TEXT, "Opcode name"                                                            },
    {"decoded_by",   COL_TEXT, "Where its fields come from, or why there are none"                      },
    {"table_name",   COL_TEXT, "Typed table that holds its rows; NULL: event"                           },
    {"events",       COL_U64,  "Events"                                                                 },
    {"bytes",        COL_U64,  "Bytes, headers included"                                                },
    {"stacks",       COL_U64,  "Events with a stack"                                                    },
    {"first_ts_ns",  COL_I64,  "First event"                                                            },
    {"last_ts_ns",   COL_I64,  "Last event"                                                             },
    {"schema",       COL_BLOB, "Schema carried by the trace (TraceLogging metadata or TRACE_EVENT_INFO)"},
};

const TableDef TABLE_EVENT_CLASS = {
    "event_class", "One kind of event: provider, id or opcode, version, level, keyword",
    EVENT_CLASS_COLUMNS, COUNT_OF(EVENT_CLASS_COLUMNS)};

static const ColumnDef PROCESS_COLUMNS[] = {
    {"upid",                 COL_U32,  "Number of this life"                                       },
    {"pid",                  COL_U32,  "Process id"                                                },
    {"parent_pid",           COL_U32,  "Parent's process id"                                       },
    {"parent_upid",          COL_U32,  "Parent's life"                                             },
    {"name",                 COL_TEXT, "Image file name"                                           },
    {"command_line",         COL_TEXT, "Command line"                                              },
    {"user_sid",             COL_TEXT, "User"                                                      },
    {"session_id",           COL_I32,  "Session; -1 none"                                          },
    {"start_ns",             COL_I64,  "Start; NULL: before the trace"                             },
    {"end_ns",               COL_I64,  "End; NULL: after the trace"                                },
    {"exit_status",          COL_I32,  "Exit status; NULL while running"                           },
    {"unique_key",           COL_U64,  "UniqueProcessKey (EPROCESS)"                               },
    {"directory_table_base", COL_U64,  "Page directory"                                            },
    {"flags",                COL_U32,  "1 package name present, 2 WOW64, 4 protected, 8 packaged"  },
    {"package_name",         COL_TEXT, "Package full name"                                         },
    {"application_id",       COL_TEXT, "Application id"                                            },
    {"origin",               COL_TEXT, "start, rundown, end or inferred (only mentioned by others)"},
};

const TableDef TABLE_PROCESS = {"process", "One life of a process", PROCESS_COLUMNS,
                                COUNT_OF(PROCESS_COLUMNS)};

static const ColumnDef THREAD_COLUMNS[] = {
    {"utid",             COL_U32,  "Number of this life"            },
    {"upid",             COL_U32,  "Its process"                    },
    {"tid",              COL_U32,  "Thread id"                      },
    {"pid",              COL_U32,  "Process id"                     },
    {"name",             COL_TEXT, "Thread name"                    },
    {"start_ns",         COL_I64,  "Start; NULL: before the trace"  },
    {"end_ns",           COL_I64,  "End; NULL: after the trace"     },
    {"start_address",    COL_U64,  "Win32 start address"            },
    {"base_priority",    COL_U8,   "Base priority"                  },
    {"page_priority",    COL_U8,   "Page priority"                  },
    {"io_priority",      COL_U8,   "I/O priority"                   },
    {"sub_process_tag",  COL_U32,  "Service tag"                    },
    {"teb_base",         COL_U64,  "TEB"                            },
    {"stack_base",       COL_U64,  "Kernel stack base"              },
    {"stack_limit",      COL_U64,  "Kernel stack limit"             },
    {"user_stack_base",  COL_U64,  "User stack base"                },
    {"user_stack_limit", COL_U64,  "User stack limit"               },
    {"affinity",         COL_U64,  "Affinity mask"                  },
    {"origin",           COL_TEXT, "start, rundown, end or inferred"},
};

const TableDef TABLE_THREAD = {"thread", "One life of a thread", THREAD_COLUMNS,
                               COUNT_OF(THREAD_COLUMNS)};

static const ColumnDef IMAGE_COLUMNS[] = {
    {"image_id",        COL_U32,  "Number of this mapping"                            },
    {"module_id",       COL_U32,
     "First image_id with the same name, size, time stamp and PDB: frames refer to it"},
    {"upid",            COL_U32,  "Process; NULL for the kernel"                      },
    {"pid",             COL_U32,  "Process id; 0 for the kernel"                      },
    {"base",            COL_U64,  "Base address"                                      },
    {"size_bytes",      COL_U64,  "Size"                                              },
    {"name",            COL_TEXT, "File name"                                         },
    {"path",            COL_TEXT, "Path with a drive letter where the volume is known"},
    {"nt_path",         COL_TEXT, "Path as recorded"                                  },
    {"load_ns",         COL_I64,  "Load; NULL: before the trace"                      },
    {"unload_ns",       COL_I64,  "Unload; NULL: after the trace"                     },
    {"checksum",        COL_U32,  "Image checksum"                                    },
    {"time_date_stamp", COL_U32,  "PE time stamp"                                     },
    {"default_base",    COL_U64,  "Preferred base"                                    },
    {"signature_level", COL_U8,   "Signature level"                                   },
    {"signature_type",  COL_U8,   "Signature type"                                    },
    {"pdb_guid",        COL_GUID, "PDB identity"                                      },
    {"pdb_age",         COL_U32,  "PDB age"                                           },
    {"pdb_name",        COL_TEXT, "PDB path as recorded"                              },
    {"original_name",   COL_TEXT, "Original file name"                                },
    {"file_version",    COL_TEXT, "File version"                                      },
    {"product_version", COL_TEXT, "Product version"                                   },
    {"description",     COL_TEXT, "File description"                                  },
    {"company",         COL_TEXT, "Company"                                           },
    {"is_kernel",       COL_BOOL, "Kernel image"                                      },
};

const TableDef TABLE_IMAGE = {"image", "One image (module) mapped into a process or the kernel",
                              IMAGE_COLUMNS, COUNT_OF(IMAGE_COLUMNS)};

static const ColumnDef FRAME_COLUMNS[] = {
    {"frame_id",  COL_U64,  "Number"                                                            },
    {"image_id",  COL_U32,  "Module (image.image_id of its module_id); NULL: no image covers it"},
    {"method_id", COL_U32,  "Managed method (method.method_id); NULL: not managed code"         },
    {"rva",       COL_U64,  "Offset in the image"                                               },
    {"address",   COL_U64,  "Address; for frames of an image, where it was first mapped"        },
    {"is_kernel", COL_BOOL, "Kernel address"                                                    },
    {"is_return", COL_BOOL, "A return address: its call stands just before it"                  },
};

const TableDef TABLE_FRAME = {"frame", "One distinct code address", FRAME_COLUMNS,
                              COUNT_OF(FRAME_COLUMNS)};

static const ColumnDef STACK_COLUMNS[] = {
    {"stack_id",  COL_U32, "Number"                             },
    {"parent_id", COL_U32, "The caller's node; NULL at the root"},
    {"frame_id",  COL_U64, "Frame"                              },
    {"depth",     COL_U16, "1 at the root (outermost frame)"    },
};

const TableDef TABLE_STACK = {
    "stack", "One node of the tree of call stacks; a stack is named by its innermost node",
    STACK_COLUMNS, COUNT_OF(STACK_COLUMNS)};

static const ColumnDef METHOD_COLUMNS[] = {
    {"method_id",   COL_U32,  "Number"                            },
    {"upid",        COL_U32,  "Process"                           },
    {"start_ns",    COL_I64,  "Valid from; NULL: before the trace"},
    {"end_ns",      COL_I64,  "Valid to; NULL: to the end"        },
    {"base",        COL_U64,  "Start address"                     },
    {"size_bytes",  COL_U64,  "Size"                              },
    {"module_key",  COL_U64,  "ModuleID"                          },
    {"name",        COL_TEXT, "Namespace.Type.Method"             },
    {"signature",   COL_TEXT, "Signature"                         },
    {"module_name", COL_TEXT, "Module"                            },
    {"kind",        COL_TEXT, "jit, ngen, r2r, dynamic or script" },
};

const TableDef TABLE_METHOD = {"method", "One range of managed or JIT-compiled code",
                               METHOD_COLUMNS, COUNT_OF(METHOD_COLUMNS)};
