// Rows about the machine. A trace states its configuration at its start, at its end or both, so the
// tables are made over all records: of two about the same thing the later one counts.
#include "decode/kernel/config.h"

#include <jansson.h>

typedef struct Config {
    const World *world;
    Rows *rows;
    Arena arena;
} Config;

typedef VEC(const Kept *) Records;

typedef struct Record { // one, read
    EtlEvent event;
    const EventSpec *spec;
    Values values;
} Record;

static Record read_record(uint16_t hook, const Kept *kept) {
    bool exact = false;
    Record record = {.event = kept_event(kept), .spec = spec_find(hook, kept->version, &exact)};
    INVARIANT(record.spec);
    (void)spec_read(record.spec, &record.event, &record.values);
    return record;
}

// What a record is about: the bytes of these slots (ended by 0), or all bytes.
static uint64_t record_key(uint16_t hook, const Kept *kept, const uint8_t *about) {
    if (!about) return bytes_hash(kept->payload.p, kept->payload.n, 1) | 1;
    Record record = read_record(hook, kept);
    uint64_t key = 1;
    for (const uint8_t *slot = about; *slot; slot++) {
        Str s = value_has(&record.values, *slot) ? record.values.at[*slot].s : (Str){0};
        key = bytes_hash(s.p, s.n, key);
    }
    return key | 1;
}

// Records of a hook in time order, those that a later one repeats or replaces left out.
static Records records_of(Config *config, uint16_t hook, const uint8_t *about) {
    enum { CLASSES = 0x2000 }; // hooks of classes without a group
    Guid class = spec_group_guid(hook);
    KeptList list = hook >= CLASSES
                        ? world_kept_class(config->world, &class, (uint8_t)(hook & 0xFF))
                        : world_kept(config->world, hook);
    Records records = {0};
    size_t capacity = 16;
    while (capacity < list.count * 2) capacity *= 2;
    uint64_t *seen = mem_zero(capacity, sizeof *seen); // keys; 0 is free
    for (size_t i = list.count; i-- > 0;) {
        uint64_t key = record_key(hook, &list.items[i], about);
        size_t at = u64_hash(key) & (capacity - 1);
        while (seen[at] && seen[at] != key) at = (at + 1) & (capacity - 1);
        if (seen[at]) continue;
        seen[at] = key;
        *vec_push(&records) = &list.items[i];
    }
    mem_free(seen);
    for (size_t i = 0, j = records.count; i + 1 < j; i++) { // back to time order
        const Kept *swap = records.items[i];
        records.items[i] = records.items[--j];
        records.items[j] = swap;
    }
    return records;
}

static bool has(const Record *record, unsigned slot) {
    return value_has(&record->values, slot);
}

static uint64_t number(const Record *record, unsigned slot) {
    return has(record, slot) ? record->values.at[slot].u : 0;
}

static Str text(Config *config, const Record *record, unsigned slot) {
    if (!has(record, slot)) return (Str){0};
    Rd r = rd_from_str(record->values.at[slot].s);
    return rd_wstr(&r, &config->arena);
}

static void put_text_slot(Row *row, Config *config, const Record *record, unsigned slot) {
    Str value = text(config, record, slot);
    put_text(row, value.n ? value : (Str){0});
}

static void put_u32_slot(Row *row, const Record *record, unsigned slot) {
    put_u32_if(row, has(record, slot), (uint32_t)number(record, slot));
}

static void put_u64_slot(Row *row, const Record *record, unsigned slot) {
    put_u64_if(row, has(record, slot), number(record, slot));
}

// The product of four numbers; NULL when one is missing or the product too large for 64 bits.
static void put_product(Row *row, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    uint64_t product = a;
    bool fits = !__builtin_mul_overflow(product, b, &product) &&
                !__builtin_mul_overflow(product, c, &product) &&
                !__builtin_mul_overflow(product, d, &product);
    put_u64_if(row, fits && product != 0, product);
}

// ---------------------------------------------------------------- cpu

static const uint32_t NO_NODE = UINT32_MAX;

typedef struct Cpu {
    bool has_group, has_processor;
    uint16_t group, number;
    Record processor;
} Cpu;

typedef VEC(Cpu) Cpus;

static Cpu *cpu_at(Cpus *cpus, uint32_t index) {
    if (index >= LIMIT_CPUS) return NULL;
    while (cpus->count <= index) *vec_push(cpus) = (Cpu){0};
    return &cpus->items[index];
}

static void read_cpu_numbers(Config *config, Cpus *cpus) {
    Records records = records_of(config, HOOK_NUMBERS, NULL);
    for (size_t i = 0; i < records.count; i++) {
        Rd r = rd_from_str(records.items[i]->payload);
        uint32_t count = rd_u32(&r);
        for (uint32_t index = 0; index < count && rd_left(&r) >= 4; index++) {
            Cpu *cpu = cpu_at(cpus, index);
            if (!cpu) break;
            cpu->has_group = true;
            cpu->group = rd_u16(&r);
            cpu->number = rd_u8(&r);
            rd_skip(&r, 1);
        }
    }
    vec_free(&records);
}

static void read_processors(Config *config, Cpus *cpus) {
    static const uint8_t ABOUT[] = {PR_INDEX, 0};
    Records records = records_of(config, HOOK_PROCESSOR, ABOUT);
    for (size_t i = 0; i < records.count; i++) {
        Record record = read_record(HOOK_PROCESSOR, records.items[i]);
        Cpu *cpu =
            has(&record, PR_INDEX) ? cpu_at(cpus, (uint32_t)number(&record, PR_INDEX)) : NULL;
        if (!cpu) continue;
        cpu->has_processor = true;
        cpu->processor = record;
    }
    vec_free(&records);
}

// Node of a CPU: the one whose mask holds it. Entries are a mask, on newer systems with a group.
static uint32_t numa_node(const Kept *numa, uint16_t group, uint16_t cpu_number) {
    Rd r = rd_from_str(numa->payload);
    uint32_t count = rd_u32(&r);
    bool with_group = rd_left(&r) / 16 >= count;
    for (uint32_t node = 0; node < count && rd_left(&r) >= 8; node++) {
        uint64_t mask = rd_u64(&r);
        uint16_t node_group = with_group ? rd_u16(&r) : 0;
        if (with_group) rd_skip(&r, 6);
        if (node_group == group && cpu_number < 64 && mask >> cpu_number & 1) return node;
    }
    return NO_NODE;
}

static void cpu_rows(Config *config) {
    Cpus cpus = {0};
    Records machine = records_of(config, HOOK_CPU, NULL);
    Records numa = records_of(config, HOOK_NUMA, NULL);
    Record system = {0};
    const EtlHeader *header = world_header(config->world);
    uint32_t count = header->cpu_count;
    if (machine.count) {
        system = read_record(HOOK_CPU, machine.items[machine.count - 1]);
        if (has(&system, CPU_COUNT)) count = (uint32_t)number(&system, CPU_COUNT);
    }
    if (count && count <= LIMIT_CPUS) (void)cpu_at(&cpus, count - 1);
    read_cpu_numbers(config, &cpus);
    read_processors(config, &cpus);
    for (size_t i = 0; i < cpus.count; i++) {
        const Cpu *cpu = &cpus.items[i];
        // Without a statement about groups there is one, which holds up to 64 processors.
        bool placed = cpu->has_group || cpus.count <= 64;
        uint16_t cpu_number = cpu->has_group ? cpu->number : (uint16_t)i;
        uint32_t node = placed && numa.count
                            ? numa_node(numa.items[numa.count - 1], cpu->group, cpu_number)
                            : NO_NODE;
        Row row = row_begin(config->rows, T_CPU);
        put_u16(&row, (uint16_t)i);
        put_u32_if(&row, placed, cpu->group);
        put_u32_if(&row, placed, cpu_number);
        put_u32_if(&row, node != NO_NODE, node);
        uint32_t mhz = (uint32_t)number(&cpu->processor, PR_MHZ);
        if (!mhz) mhz = (uint32_t)number(&system, CPU_MHZ);
        if (!mhz) mhz = header->cpu_mhz;
        put_u32_if(&row, mhz != 0, mhz);
        put_text_slot(&row, config, &cpu->processor, PR_NAME);
        put_text_slot(&row, config, &cpu->processor, PR_VENDOR);
        put_text_slot(&row, config, &cpu->processor, PR_IDENTIFIER);
        put_u32_slot(&row, &cpu->processor, PR_FEATURES);
        row_end(&row);
    }
    vec_free(&cpus);
    vec_free(&machine);
    vec_free(&numa);
}

// ---------------------------------------------------------------- nic, disk, service, device

static Str mac_text(Config *config, const Record *record) {
    Str bytes = has(record, NIC_MAC) ? record->values.at[NIC_MAC].s : (Str){0};
    uint64_t n = number(record, NIC_MAC_BYTES);
    if (n == 0 || n > bytes.n) return (Str){0};
    Buf out = {0};
    for (size_t i = 0; i < n; i++) buf_addf(&out, i ? "-%02X" : "%02X", (unsigned char)bytes.p[i]);
    Str copy = str_copy(&config->arena, buf_str(&out));
    buf_done(&out);
    return copy;
}

// Addresses are text since version 2; before, one IPv4 address of four bytes.
static Str addresses_text(Config *config, const Record *record, unsigned slot) {
    enum { TEXT_SINCE = 2 };
    char ip[IP_TEXT_SIZE];
    if (record->event.version >= TEXT_SINCE || !has(record, slot))
        return text(config, record, slot);
    return str_copy(&config->arena, ip4_to_text(record->values.at[slot].s, ip));
}

static void nic_row(Config *config, const Record *record) {
    Row row = row_begin(config->rows, T_NIC);
    put_text_slot(&row, config, record, NIC_NAME);
    put_text(&row, mac_text(config, record));
    put_u32_slot(&row, record, NIC_V4);
    put_u32_slot(&row, record, NIC_V6);
    put_text(&row, addresses_text(config, record, NIC_ADDRESSES));
    put_text(&row, addresses_text(config, record, NIC_DNS));
    row_end(&row);
}

static void disk_row(Config *config, const Record *record) {
    Row row = row_begin(config->rows, T_DISK);
    put_u32_slot(&row, record, D_NUMBER);
    put_text(&row, str_trim(text(config, record, D_MAKER)));
    put_product(&row, number(record, D_CYLINDERS), number(record, D_TRACKS),
                number(record, D_SECTORS), number(record, D_SECTOR));
    put_u32_slot(&row, record, D_SECTOR);
    put_u32_slot(&row, record, D_PARTITIONS);
    if (has(record, D_CACHE))
        put_bool(&row, number(record, D_CACHE) != 0);
    else
        put_null(&row);
    put_text_slot(&row, config, record, D_LETTER);
    row_end(&row);
}

static void service_row(Config *config, const Record *record) {
    Row row = row_begin(config->rows, T_SERVICE);
    put_u32_slot(&row, record, S_PID);
    put_u32_slot(&row, record, S_STATE);
    put_u32_slot(&row, record, S_TAG);
    for (unsigned slot = S_NAME; slot <= S_HOST; slot++) put_text_slot(&row, config, record, slot);
    row_end(&row);
}

// Several texts, one behind the other, joined.
static Str texts(Config *config, const Record *record, unsigned slot) {
    if (!has(record, slot)) return (Str){0};
    Rd r = rd_from_str(record->values.at[slot].s);
    Buf out = {0};
    while (rd_left(&r)) {
        if (out.n) buf_add_c(&out, ", ");
        buf_add(&out, rd_wstr(&r, &config->arena));
    }
    Str copy = out.n ? str_copy(&config->arena, buf_str(&out)) : (Str){0};
    buf_done(&out);
    return copy;
}

static void device_row(Config *config, const Record *record) {
    Guid class = {{0}};
    if (has(record, DEV_CLASS)) {
        Rd r = rd_from_str(record->values.at[DEV_CLASS].s);
        class = rd_guid(&r);
    }
    Row row = row_begin(config->rows, T_DEVICE);
    put_guid_if(&row, has(record, DEV_CLASS), class);
    for (unsigned slot = DEV_ID; slot <= DEV_SERVICE; slot++)
        put_text_slot(&row, config, record, slot);
    put_u32_slot(&row, record, DEV_STATUS);
    put_u32_slot(&row, record, DEV_PROBLEM);
    put_text(&row, texts(config, record, DEV_UPPER));
    put_text(&row, texts(config, record, DEV_LOWER));
    row_end(&row);
}

static void rows_of(Config *config, uint16_t hook, const uint8_t *about,
                    void (*write)(Config *, const Record *)) {
    Records records = records_of(config, hook, about);
    for (size_t i = 0; i < records.count; i++) {
        Record record = read_record(hook, records.items[i]);
        write(config, &record);
        arena_clear(&config->arena);
    }
    vec_free(&records);
}

// ---------------------------------------------------------------- config

static void fact_row(Config *config, Str section, uint32_t item, Str name, Str value) {
    Row row = row_begin(config->rows, T_CONFIG);
    put_text(&row, section);
    put_u32(&row, item);
    put_text(&row, name);
    put_text(&row, value);
    row_end(&row);
}

static Str json_text(Config *config, const json_t *value) {
    if (json_is_string(value))
        return str_copy(&config->arena, (Str){json_string_value(value), json_string_length(value)});
    size_t n = json_dumpb(value, NULL, 0, JSON_ENCODE_ANY | JSON_COMPACT);
    char *copy = arena_bytes(&config->arena, n);
    (void)json_dumpb(value, copy, n, JSON_ENCODE_ANY | JSON_COMPACT);
    return (Str){copy, n};
}

static bool is_padding(const char *name) {
    Str s = str_from_c(name);
    return str_starts(s, STR("Pad")) || str_starts(s, STR("Reserved")) ||
           str_starts(s, STR("Spare"));
}

// Every field of a record is a fact.
static void facts_of(Config *config, Str section, uint32_t item, const Record *record) {
    Buf buf = {0};
    bool complete = false;
    SpecPayload payload = {world_header(config->world), record->event.pointer_size,
                           record->event.payload};
    (void)spec_json(record->spec, &payload, &config->arena, &buf, &complete);
    json_t *object = json_loadb(buf.p, buf.n, JSON_ALLOW_NUL, NULL);
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(object, name, value) {
        if (!is_padding(name))
            fact_row(config, section, item, str_from_c(name), json_text(config, value));
    }
    json_decref(object);
    buf_done(&buf);
}

typedef struct Section {
    const char *name;
    uint16_t hook;
} Section;

static const Section SECTIONS[] = {
    {"system",          HOOK_CPU       },
    {"build",           HOOK_BUILD_INFO},
    {"path",            0x2021         },
    {"platform",        0x0B19         },
    {"boot",            0x0B25         },
    {"virtualization",  0x0B24         },
    {"code_integrity",  0x0B1D         },
    {"power",           0x0B10         },
    {"network",         0x0B11         },
    {"video",           0x0B0E         },
    {"dpi",             0x0B1C         },
    {"machine",         0x0B1E         },
    {"device_family",   0x0B21         },
    {"mobile",          0x0B20         },
    {"flight",          0x0B22         },
    {"numa",            HOOK_NUMA      },
    {"processor_group", HOOK_GROUPS    },
    {"irq",             0x0B15         },
    {"ide",             0x0B17         },
    {"optical",         0x0B12         },
    {"disk_extended",   0x0B13         },
    {"defrag",          0x0B1F         },
    {"unknown_volume",  0x2022         },
};

static void section_rows(Config *config, const Section *section) {
    Records records = records_of(config, section->hook, NULL);
    for (size_t i = 0; i < records.count; i++) {
        Record record = read_record(section->hook, records.items[i]);
        facts_of(config, str_from_c(section->name), (uint32_t)i, &record);
        arena_clear(&config->arena);
    }
    vec_free(&records);
}

// ---------------------------------------------------------------- volume

typedef struct Mapping {
    Str nt, dos;
    bool used;
} Mapping;

typedef VEC(Mapping) Mappings;

static bool is_drive(Str dos) {
    return dos.n >= 2 && dos.n <= 3 && dos.p[1] == ':';
}

static Mappings read_mappings(Config *config) {
    static const uint8_t ABOUT[] = {M_NT, 0};
    Records records = records_of(config, HOOK_VOLUME_MAPPING, ABOUT);
    Mappings mappings = {0};
    for (size_t i = 0; i < records.count; i++) {
        Record record = read_record(HOOK_VOLUME_MAPPING, records.items[i]);
        *vec_push(&mappings) =
            (Mapping){text(config, &record, M_NT), text(config, &record, M_DOS), false};
    }
    vec_free(&records);
    return mappings;
}

static Str nt_path_of(Mappings *mappings, Str letter) {
    for (size_t i = 0; letter.n && i < mappings->count; i++) {
        Mapping *mapping = &mappings->items[i];
        if (!is_drive(mapping->dos) ||
            !str_eq_nocase(str_slice(letter, 0, 2), str_slice(mapping->dos, 0, 2)))
            continue;
        mapping->used = true;
        return mapping->nt;
    }
    return (Str){0};
}

static void volume_row(Config *config, const Record *record, Str letter, Str nt_path) {
    enum { AFTER_PATH = 10 }; // columns from `disk` on
    Row row = row_begin(config->rows, T_VOLUME);
    put_text(&row, letter.n ? letter : (Str){0});
    put_text(&row, nt_path);
    if (!record) {
        for (unsigned i = 0; i < AFTER_PATH; i++) put_null(&row);
        row_end(&row);
        return;
    }
    uint64_t cluster = number(record, V_CLUSTER), sector = number(record, V_SECTOR);
    put_u32_slot(&row, record, V_DISK);
    put_u32_slot(&row, record, V_PARTITION);
    put_u32_slot(&row, record, V_TYPE);
    put_u64_slot(&row, record, V_START);
    put_u64_slot(&row, record, V_SIZE);
    put_product(&row, number(record, V_FREE), cluster, sector, 1);
    put_product(&row, number(record, V_TOTAL), cluster, sector, 1);
    put_text_slot(&row, config, record, V_FILE_SYSTEM);
    put_u32_slot(&row, record, V_SECTOR);
    put_u32_slot(&row, record, V_CLUSTER);
    row_end(&row);
}

// Volumes with what the mergers say about their paths; a drive that only a mapping names is a row
// too, a mapping of anything else a fact.
static void volume_rows(Config *config) {
    static const uint8_t ABOUT[] = {V_START, V_DISK, V_PARTITION, V_LETTER, 0};
    Mappings mappings = read_mappings(config);
    Records records = records_of(config, HOOK_VOLUME, ABOUT);
    uint32_t item = 0;
    for (size_t i = 0; i < records.count; i++) {
        Record record = read_record(HOOK_VOLUME, records.items[i]);
        Str letter = text(config, &record, V_LETTER);
        volume_row(config, &record, letter, nt_path_of(&mappings, letter));
    }
    for (size_t i = 0; i < mappings.count; i++) {
        const Mapping *mapping = &mappings.items[i];
        if (mapping->used) continue;
        if (is_drive(mapping->dos))
            volume_row(config, NULL, str_slice(mapping->dos, 0, 2), mapping->nt);
        else
            fact_row(config, STR("path_mapping"), item++, mapping->nt, mapping->dos);
    }
    vec_free(&records);
    vec_free(&mappings);
    arena_clear(&config->arena);
}

void config_rows(const World *world, Rows *rows) {
    static const uint8_t NIC[] = {NIC_MAC, NIC_NAME, 0};
    static const uint8_t DISK[] = {D_NUMBER, 0};
    static const uint8_t SERVICE[] = {S_NAME, 0};
    static const uint8_t DEVICE[] = {DEV_ID, 0};
    Config config = {world, rows, {0}};
    cpu_rows(&config);
    rows_of(&config, HOOK_NIC, NIC, nic_row);
    rows_of(&config, HOOK_DISK, DISK, disk_row);
    volume_rows(&config);
    rows_of(&config, HOOK_SERVICE, SERVICE, service_row);
    rows_of(&config, HOOK_DEVICE, DEVICE, device_row);
    for (size_t i = 0; i < COUNT_OF(SECTIONS); i++) section_rows(&config, &SECTIONS[i]);
    arena_done(&config.arena);
}
