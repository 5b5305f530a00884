// Names of status and error codes.
#include "decode/fields_internal.h"

typedef struct CodeName {
    uint32_t code;
    const char *name;
} CodeName;

// Statuses that network and file events carry; success and others stand as numbers.
static const CodeName STATUS_NAMES[] = {
    {0x00000102, "TIMEOUT"                   },
    {0x00000103, "PENDING"                   },
    {0x80000005, "BUFFER_OVERFLOW"           },
    {0xC0000001, "UNSUCCESSFUL"              },
    {0xC0000005, "ACCESS_VIOLATION"          },
    {0xC0000008, "INVALID_HANDLE"            },
    {0xC000000D, "INVALID_PARAMETER"         },
    {0xC0000016, "MORE_PROCESSING_REQUIRED"  },
    {0xC0000022, "ACCESS_DENIED"             },
    {0xC0000034, "OBJECT_NAME_NOT_FOUND"     },
    {0xC0000043, "SHARING_VIOLATION"         },
    {0xC000009A, "INSUFFICIENT_RESOURCES"    },
    {0xC00000A3, "DEVICE_NOT_READY"          },
    {0xC00000B0, "PIPE_DISCONNECTED"         },
    {0xC00000B5, "IO_TIMEOUT"                },
    {0xC00000BB, "NOT_SUPPORTED"             },
    {0xC0000120, "CANCELLED"                 },
    {0xC000013B, "LOCAL_DISCONNECT"          },
    {0xC000013C, "REMOTE_DISCONNECT"         },
    {0xC000013D, "REMOTE_RESOURCES"          },
    {0xC000013E, "LINK_FAILED"               },
    {0xC000013F, "LINK_TIMEOUT"              },
    {0xC0000140, "INVALID_CONNECTION"        },
    {0xC0000141, "INVALID_ADDRESS"           },
    {0xC0000184, "INVALID_DEVICE_STATE"      },
    {0xC0000207, "INVALID_ADDRESS_COMPONENT" },
    {0xC0000208, "INVALID_ADDRESS_WILDCARD"  },
    {0xC0000209, "TOO_MANY_ADDRESSES"        },
    {0xC000020A, "ADDRESS_ALREADY_EXISTS"    },
    {0xC000020B, "ADDRESS_CLOSED"            },
    {0xC000020C, "CONNECTION_DISCONNECTED"   },
    {0xC000020D, "CONNECTION_RESET"          },
    {0xC000020E, "TOO_MANY_NODES"            },
    {0xC000020F, "TRANSACTION_ABORTED"       },
    {0xC0000210, "TRANSACTION_TIMED_OUT"     },
    {0xC000021B, "DATA_NOT_ACCEPTED"         },
    {0xC0000225, "NOT_FOUND"                 },
    {0xC0000236, "CONNECTION_REFUSED"        },
    {0xC0000237, "GRACEFUL_DISCONNECT"       },
    {0xC0000238, "ADDRESS_ALREADY_ASSOCIATED"},
    {0xC0000239, "ADDRESS_NOT_ASSOCIATED"    },
    {0xC000023A, "CONNECTION_INVALID"        },
    {0xC000023B, "CONNECTION_ACTIVE"         },
    {0xC000023C, "NETWORK_UNREACHABLE"       },
    {0xC000023D, "HOST_UNREACHABLE"          },
    {0xC000023E, "PROTOCOL_UNREACHABLE"      },
    {0xC000023F, "PORT_UNREACHABLE"          },
    {0xC0000240, "REQUEST_ABORTED"           },
    {0xC0000241, "CONNECTION_ABORTED"        },
};

static const CodeName WIN32_NAMES[] = {
    {0,    "ERROR_SUCCESS"                },
    {1,    "ERROR_INVALID_FUNCTION"       },
    {2,    "ERROR_FILE_NOT_FOUND"         },
    {3,    "ERROR_PATH_NOT_FOUND"         },
    {5,    "ERROR_ACCESS_DENIED"          },
    {6,    "ERROR_INVALID_HANDLE"         },
    {8,    "ERROR_NOT_ENOUGH_MEMORY"      },
    {13,   "ERROR_INVALID_DATA"           },
    {14,   "ERROR_OUTOFMEMORY"            },
    {18,   "ERROR_NO_MORE_FILES"          },
    {21,   "ERROR_NOT_READY"              },
    {31,   "ERROR_GEN_FAILURE"            },
    {32,   "ERROR_SHARING_VIOLATION"      },
    {38,   "ERROR_HANDLE_EOF"             },
    {50,   "ERROR_NOT_SUPPORTED"          },
    {80,   "ERROR_FILE_EXISTS"            },
    {87,   "ERROR_INVALID_PARAMETER"      },
    {109,  "ERROR_BROKEN_PIPE"            },
    {111,  "ERROR_BUFFER_OVERFLOW"        },
    {112,  "ERROR_DISK_FULL"              },
    {120,  "ERROR_CALL_NOT_IMPLEMENTED"   },
    {122,  "ERROR_INSUFFICIENT_BUFFER"    },
    {126,  "ERROR_MOD_NOT_FOUND"          },
    {127,  "ERROR_PROC_NOT_FOUND"         },
    {170,  "ERROR_BUSY"                   },
    {183,  "ERROR_ALREADY_EXISTS"         },
    {234,  "ERROR_MORE_DATA"              },
    {258,  "WAIT_TIMEOUT"                 },
    {259,  "ERROR_NO_MORE_ITEMS"          },
    {995,  "ERROR_OPERATION_ABORTED"      },
    {996,  "ERROR_IO_INCOMPLETE"          },
    {997,  "ERROR_IO_PENDING"             },
    {1053, "ERROR_SERVICE_REQUEST_TIMEOUT"},
    {1060, "ERROR_SERVICE_DOES_NOT_EXIST" },
    {1168, "ERROR_NOT_FOUND"              },
    {1223, "ERROR_CANCELLED"              },
    {1225, "ERROR_CONNECTION_REFUSED"     },
    {1231, "ERROR_NETWORK_UNREACHABLE"    },
    {1236, "ERROR_CONNECTION_ABORTED"     },
    {1314, "ERROR_PRIVILEGE_NOT_HELD"     },
    {1450, "ERROR_NO_SYSTEM_RESOURCES"    },
    {1460, "ERROR_TIMEOUT"                },
    {1722, "RPC_S_SERVER_UNAVAILABLE"     },
};

static const CodeName HRESULT_NAMES[] = {
    {0,          "S_OK"         },
    {1,          "S_FALSE"      },
    {0x80004001, "E_NOTIMPL"    },
    {0x80004002, "E_NOINTERFACE"},
    {0x80004003, "E_POINTER"    },
    {0x80004004, "E_ABORT"      },
    {0x80004005, "E_FAIL"       },
    {0x8000FFFF, "E_UNEXPECTED" },
};

static Str find(const CodeName *names, size_t count, uint32_t code) {
    for (size_t i = 0; i < count; i++)
        if (names[i].code == code) return str_from_c(names[i].name);
    return (Str){0};
}

Str ntstatus_name(uint32_t code) {
    return find(STATUS_NAMES, COUNT_OF(STATUS_NAMES), code);
}

Str win32_name(uint32_t code) {
    return find(WIN32_NAMES, COUNT_OF(WIN32_NAMES), code);
}

Str hresult_name(uint32_t code) {
    const uint32_t from_win32 = 0x80070000;
    if ((code & 0xFFFF0000) == from_win32) return win32_name(code & 0xFFFF);
    return find(HRESULT_NAMES, COUNT_OF(HRESULT_NAMES), code);
}
