// Kernel records: finding the layout of a version and writing its fields.
#include "support/etl_build_kernel.h"

#include "support/etl_build_pay.h"

const BuildRecord *etl_build_record(Str verb, int version, uint32_t os_build) {
    size_t count = 0;
    const BuildRecord *records = etl_build_records(&count);
    for (size_t i = 0; i < count; i++) {
        const BuildRecord *r = &records[i];
        if (!str_eq(verb, str_from_c(r->verb))) continue;
        bool newest = version == BUILD_ANY_VERSION;
        bool listed = version >= r->version_min && version <= r->version_max;
        if (newest ? r->os_build <= os_build : listed) return r;
    }
    return NULL;
}

bool build_field_in(const BuildField *field, unsigned version) {
    return version >= field->since && (field->until == 0 || version <= field->until);
}

static void put_list(Pay *pay, unsigned pointer_size, BuildType type, Str values) {
    for (size_t i = 0; i + 8 <= values.n; i += 8) {
        uint64_t value = 0;
        memcpy(&value, values.p + i, 8);
        pay_ptr(pay, type == T_PTRS ? pointer_size : 4, value);
    }
}

static size_t list_count(const BuildField *field, const BuildValue *value) {
    if (field->type != T_WSTRS) return value->text.n / 8;
    size_t count = value->text.n > 0;
    for (size_t i = 0; i < value->text.n; i++) count += value->text.p[i] == '|';
    return count;
}

// The address part of "10.0.0.1:80" or "[fe80::1]:80"; *port is the part behind it.
static Str endpoint_address(Str text, Str *port) {
    size_t colon = str_rfind_char(text, ':');
    *port = colon == SIZE_MAX ? STR("0") : str_slice(text, colon + 1, text.n);
    Str address = colon == SIZE_MAX ? text : str_slice(text, 0, colon);
    if (address.n > 2 && address.p[0] == '[') address = str_slice(address, 1, address.n - 1);
    return address;
}

static bool put_port(Pay *pay, Str text) {
    uint64_t number = 0;
    Str port;
    (void)endpoint_address(text, &port);
    if (!str_to_u64(port, &number) || number > 65535) return false;
    pay_be16(pay, (uint16_t)number);
    return true;
}

static bool put_text(Pay *pay, unsigned pointer_size, const BuildField *field, Str text) {
    Guid guid = {{0}};
    Str part, port;
    switch (field->type) {
    case T_WSTR: pay_wstr(pay, text); return true;
    case T_ASTR: pay_astr(pay, text); return true;
    case T_WCHARS: pay_wchars(pay, field->n, text); return true;
    case T_SID: return pay_kernel_sid(pay, pointer_size, text);
    case T_GUID:
        if (text.n && !guid_from_text(text, &guid)) return false;
        pay_guid(pay, guid);
        return true;
    case T_IP: return pay_ip(pay, text.n ? endpoint_address(text, &port) : STR("0.0.0.0"));
    case T_PORT: return put_port(pay, text);
    case T_TAG:
        for (size_t i = 0; i < 4; i++) pay_u8(pay, i < text.n ? (uint8_t)text.p[i] : ' ');
        return true;
    case T_WSTRS:
        while (str_next(&text, '|', &part)) pay_wstr(pay, part);
        return true;
    case T_U8:
    case T_U16:
    case T_U32:
    case T_U64:
    case T_PTR:
    case T_AT:
    case T_SPAN:
    case T_PTRS:
    case T_U32S:
    case T_COUNT:
    case T_OR:
    case T_ZEROS:
    case T_ZEROS64:
    case T_TYPES: break;
    }
    return false;
}

static bool put_field(Pay *pay, unsigned pointer_size, const BuildField *field,
                      const BuildValue *value) {
    switch (field->type) {
    case T_U8: pay_u8(pay, (uint8_t)value->number); return true;
    case T_U16: pay_u16(pay, (uint16_t)value->number); return true;
    case T_U32: pay_u32(pay, (uint32_t)value->number); return true;
    case T_U64:
    case T_AT:
    case T_SPAN: pay_u64(pay, value->number); return true;
    case T_PTR: pay_ptr(pay, pointer_size, value->number); return true;
    case T_OR:
        pay->p[pay->n - 1] = (char)(pay->p[pay->n - 1] | (int)(value->number << field->n));
        return true;
    case T_PTRS:
    case T_U32S: put_list(pay, pointer_size, field->type, value->text); return true;
    case T_COUNT: pay_u32(pay, (uint32_t)list_count(field + 1, value + 1)); return true;
    case T_ZEROS: pay_zeros(pay, field->n); return true;
    case T_ZEROS64: pay_zeros(pay, pointer_size == 8 ? field->n : 0); return true;
    case T_WSTR:
    case T_ASTR:
    case T_SID:
    case T_GUID:
    case T_PORT:
    case T_IP:
    case T_WCHARS:
    case T_WSTRS:
    case T_TAG:
    case T_TYPES: break;
    }
    return put_text(pay, pointer_size, field, value->text);
}

bool etl_build_fields(Pay *pay, unsigned pointer_size, const BuildRecord *record, unsigned version,
                      const BuildValue *values) {
    bool good = true;
    for (size_t i = 0; i < record->count; i++)
        if (build_field_in(&record->fields[i], version))
            good = put_field(pay, pointer_size, &record->fields[i], &values[i]) && good;
    return good;
}

uint16_t etl_build_hook(const BuildRecord *record, const BuildValue *values) {
    // Only TCP and UDP have addresses; they come third.
    for (size_t i = 0; i < record->count && i < 3; i++) {
        if (record->fields[i].type != T_IP) continue;
        Str port, address = endpoint_address(values[i].text, &port);
        if (str_find(address, STR(":")) != SIZE_MAX) return (uint16_t)(record->hook + 0x10);
        break;
    }
    return record->hook;
}

void etl_build_put(EtlBuild *build, const BuildRecord *record, unsigned version,
                   const EtlBuildEvent *when, const BuildValue *values) {
    Buf *payload = etl_build_scratch(build);
    EtlBuildEvent event = *when;
    unsigned pointer_size = event.pointer_size ? event.pointer_size : etl_build_pointer_size(build);
    if (!etl_build_fields(payload, pointer_size, record, version, values))
        etl_build_fail(build, ERR_ARG, "%s: malformed SID, GUID or address", record->verb);
    event.header = record->header;
    event.version = (uint16_t)version;
    event.hook = etl_build_hook(record, values);
    if (record->class_guid) {
        event.guid = pay_guid_from_c(record->class_guid);
        event.opcode = (uint8_t)record->hook;
    }
    event.payload = buf_str(payload);
    etl_build_event(build, &event);
}
