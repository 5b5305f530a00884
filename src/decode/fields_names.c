// Names of types in manifests and tables.
#include "decode/fields_source.h"

typedef struct NamedCode {
    const char *name;
    uint8_t code;
} NamedCode;

static const NamedCode IN_NAMES[] = {
    {"UInt32",               IN_U32       },
    {"Pointer",              IN_PTR       },
    {"UInt64",               IN_U64       },
    {"UnicodeString",        IN_WSTR      },
    {"UInt16",               IN_U16       },
    {"Binary",               IN_BIN       },
    {"UInt8",                IN_U8        },
    {"Boolean",              IN_BOOL32    },
    {"Int32",                IN_I32       },
    {"AnsiString",           IN_ASTR      },
    {"GUID",                 IN_GUID      },
    {"Int64",                IN_I64       },
    {"HexInt32",             IN_HEX32     },
    {"FILETIME",             IN_FILETIME  },
    {"Double",               IN_F64       },
    {"SID",                  IN_SID       },
    {"CountedUtf16String",   IN_CWSTR     },
    {"CountedUnicodeString", IN_CWSTR     },
    {"CountedAnsiString",    IN_CASTR     },
    {"CountedBinary",        IN_CBIN      },
    {"HexInt64",             IN_HEX64     },
    {"SYSTEMTIME",           IN_SYSTEMTIME},
    {"Float",                IN_F32       },
    {"Int8",                 IN_I8        },
    {"Int16",                IN_I16       },
    {"struct",               IN_STRUCT    },
    {"SizeT",                IN_SIZE      },
};

static const NamedCode OUT_NAMES[] = {
    {"xs:string",                      OUT_STRING        },
    {"xs:dateTime",                    OUT_DATETIME      },
    {"xs:byte",                        OUT_I8            },
    {"xs:unsignedByte",                4                 },
    {"xs:short",                       5                 },
    {"xs:unsignedShort",               6                 },
    {"xs:int",                         7                 },
    {"xs:unsignedInt",                 8                 },
    {"xs:long",                        9                 },
    {"xs:unsignedLong",                OUT_U64           },
    {"xs:float",                       11                },
    {"xs:double",                      12                },
    {"xs:boolean",                     OUT_BOOLEAN       },
    {"xs:GUID",                        OUT_GUID          },
    {"xs:hexBinary",                   OUT_HEXBINARY     },
    {"win:HexInt8",                    OUT_HEX8          },
    {"win:HexInt16",                   OUT_HEX16         },
    {"win:HexInt32",                   OUT_HEX32         },
    {"win:HexInt64",                   OUT_HEX64         },
    {"win:PID",                        OUT_PID           },
    {"win:TID",                        OUT_TID           },
    {"win:Port",                       OUT_PORT          },
    {"win:IPv4",                       OUT_IPV4          },
    {"win:IPv6",                       OUT_IPV6          },
    {"win:SocketAddress",              OUT_SOCKADDR      },
    {"win:Xml",                        OUT_XML           },
    {"win:ErrorCode",                  OUT_ERRORCODE     },
    {"win:Win32Error",                 OUT_WIN32ERROR    },
    {"win:NTSTATUS",                   OUT_NTSTATUS      },
    {"win:HResult",                    OUT_HRESULT       },
    {"win:Json",                       OUT_JSON          },
    {"win:Utf8",                       OUT_UTF8          },
    {"win:CodePointer",                OUT_CODE_POINTER  },
    {"win:DateTimeCultureInsensitive", OUT_DATETIME_PLAIN},
    {"win:DateTimeUtc",                OUT_DATETIME_UTC  },
};

uint8_t type_from_name(Str name) {
    Str prefix = STR("win:");
    Str plain = str_starts(name, prefix) ? str_slice(name, prefix.n, name.n) : name;
    for (size_t i = 0; i < COUNT_OF(IN_NAMES); i++)
        if (str_eq_nocase(plain, str_from_c(IN_NAMES[i].name))) return IN_NAMES[i].code;
    return IN_OPAQUE;
}

uint8_t out_from_name(Str name) {
    for (size_t i = 0; i < COUNT_OF(OUT_NAMES); i++)
        if (str_eq_nocase(name, str_from_c(OUT_NAMES[i].name))) return OUT_NAMES[i].code;
    return OUT_DEFAULT;
}
