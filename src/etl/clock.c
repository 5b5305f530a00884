// Raw timestamps to nanoseconds (docs/formats/etl.md, "Clocks").
//
// At the usual 10 MHz a tick is 100 ns exactly. At other rates whole seconds and the rest are
// converted apart, because ticks * 1e9 leaves 64 bits half an hour after boot.
#include "etl/etl.h"

enum { NS_PER_TICK_10MHZ = 100 };
#define NS_PER_S 1000000000LL
#define REST_FREQUENCY_MAX 9000000000ULL // above it the rest's product leaves 64 bits

__extension__ typedef __int128 Wide;

static int64_t saturate(Wide value) {
    if (value > INT64_MAX) return INT64_MAX;
    return value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static int64_t ns_from_wide_ticks(const EtlHeader *header, Wide ticks) {
    return saturate(ticks * NS_PER_S / (Wide)header->ticks_per_s);
}

int64_t etl_ns_from_duration(const EtlHeader *header, int64_t ticks) {
    uint64_t frequency = header->ticks_per_s;
    int64_t ns;
    if (frequency == 10000000) {
        if (!__builtin_mul_overflow(ticks, (int64_t)NS_PER_TICK_10MHZ, &ns)) return ns;
        return ticks < 0 ? INT64_MIN : INT64_MAX;
    }
    if (frequency > REST_FREQUENCY_MAX) return ns_from_wide_ticks(header, ticks);
    int64_t f = (int64_t)frequency;
    int64_t rest = ticks % f * NS_PER_S / f;
    if (__builtin_mul_overflow(ticks / f, NS_PER_S, &ns) || __builtin_add_overflow(ns, rest, &ns))
        return ticks < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

int64_t etl_ns_from_ticks(const EtlHeader *header, int64_t ticks) {
    int64_t since_start;
    if (__builtin_sub_overflow(ticks, header->start_ticks, &since_start))
        return ns_from_wide_ticks(header, (Wide)ticks - header->start_ticks);
    return etl_ns_from_duration(header, since_start);
}
