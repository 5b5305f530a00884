// Tables of config events.
#include "decode/tables.h"

static const ColumnDef CPU_COLUMNS[] = {
    {"cpu",             COL_U16,  "Processor index, as in cpu columns"},
    {"group_number",    COL_U32,  "Processor group"                   },
    {"number_in_group", COL_U32,  "Number in its group"               },
    {"numa_node",       COL_U32,  "NUMA node"                         },
    {"mhz",             COL_U32,  "Nominal speed"                     },
    {"name",            COL_TEXT, "Marketing name"                    },
    {"vendor",          COL_TEXT, "Vendor id"                         },
    {"identifier",      COL_TEXT, "Family, model, stepping"           },
    {"features",        COL_U32,  "Feature bits"                      },
};

const TableDef TABLE_CPU = {"cpu", "One logical processor", CPU_COLUMNS, COUNT_OF(CPU_COLUMNS)};

static const ColumnDef NIC_COLUMNS[] = {
    {"description", COL_TEXT, "Adapter name"        },
    {"mac",         COL_TEXT, "Physical address"    },
    {"ipv4_index",  COL_U32,  "IPv4 interface index"},
    {"ipv6_index",  COL_U32,  "IPv6 interface index"},
    {"addresses",   COL_TEXT, "IP addresses"        },
    {"dns",         COL_TEXT, "DNS servers"         },
};

const TableDef TABLE_NIC = {"nic", "One network adapter", NIC_COLUMNS, COUNT_OF(NIC_COLUMNS)};

static const ColumnDef DISK_COLUMNS[] = {
    {"disk",             COL_U32,  "Disk number"            },
    {"manufacturer",     COL_TEXT, "Model"                  },
    {"size_bytes",       COL_U64,  "Size, from the geometry"},
    {"bytes_per_sector", COL_U32,  "Sector size"            },
    {"partitions",       COL_U32,  "Partitions"             },
    {"write_cache",      COL_BOOL, "Write cache enabled"    },
    {"boot_letter",      COL_TEXT, "Boot drive letter"      },
};

const TableDef TABLE_DISK = {"disk", "One physical disk", DISK_COLUMNS, COUNT_OF(DISK_COLUMNS)};

static const ColumnDef VOLUME_COLUMNS[] = {
    {"letter",              COL_TEXT, "Drive letter"                   },
    {"nt_path",             COL_TEXT, "NT device path"                 },
    {"disk",                COL_U32,  "Disk number"                    },
    {"partition",           COL_U32,  "Partition number"               },
    {"drive_type",          COL_U32,  "1 partition, 2 volume, 4 extent"},
    {"start_offset",        COL_U64,  "Byte offset on the disk"        },
    {"size_bytes",          COL_U64,  "Size"                           },
    {"free_bytes",          COL_U64,  "Free space"                     },
    {"total_bytes",         COL_U64,  "Space of the file system"       },
    {"file_system",         COL_TEXT, "File system"                    },
    {"bytes_per_sector",    COL_U32,  "Sector size"                    },
    {"sectors_per_cluster", COL_U32,  "Cluster size in sectors"        },
};

const TableDef TABLE_VOLUME = {"volume", "One partition or volume", VOLUME_COLUMNS,
                               COUNT_OF(VOLUME_COLUMNS)};

static const ColumnDef SERVICE_COLUMNS[] = {
    {"pid",              COL_U32,  "Process id"                            },
    {"state",            COL_U32,  "State"                                 },
    {"sub_process_tag",  COL_U32,  "Tag of its threads in a shared process"},
    {"name",             COL_TEXT, "Service name"                          },
    {"display_name",     COL_TEXT, "Display name"                          },
    {"process_name",     COL_TEXT, "Process name"                          },
    {"load_order_group", COL_TEXT, "Load order group"                      },
    {"svchost_group",    COL_TEXT, "Service host group"                    },
};

const TableDef TABLE_SERVICE = {"service", "One Windows service", SERVICE_COLUMNS,
                                COUNT_OF(SERVICE_COLUMNS)};

static const ColumnDef DEVICE_COLUMNS[] = {
    {"class_guid",    COL_GUID, "Device class"          },
    {"device_id",     COL_TEXT, "Device id"             },
    {"description",   COL_TEXT, "Description"           },
    {"friendly_name", COL_TEXT, "Friendly name"         },
    {"pdo_name",      COL_TEXT, "Physical device object"},
    {"service",       COL_TEXT, "Driver service"        },
    {"status",        COL_U32,  "Status"                },
    {"problem",       COL_U32,  "Problem code"          },
    {"upper_filters", COL_TEXT, "Upper filters"         },
    {"lower_filters", COL_TEXT, "Lower filters"         },
};

const TableDef TABLE_DEVICE = {"device", "One Plug and Play device", DEVICE_COLUMNS,
                               COUNT_OF(DEVICE_COLUMNS)};

static const ColumnDef CONFIG_COLUMNS[] = {
    {"section", COL_TEXT, "platform, power, irq, network, boot, virtualization, video ..."},
    {"item",    COL_U32,  "Number of the record in its section, from 0"                   },
    {"name",    COL_TEXT, "Name of the fact"                                              },
    {"value",   COL_TEXT, "Value"                                                         },
};

const TableDef TABLE_CONFIG = {"config", "One further fact about the machine", CONFIG_COLUMNS,
                               COUNT_OF(CONFIG_COLUMNS)};
