// XPRESS Huffman (docs/formats/etl.md, "Compressed buffers"): per 64 KiB of output a table of 512
// code lengths, then codes in 16-bit words, most significant bit first, with the long match lengths
// lying as whole bytes between the words.
//
// Codes of up to FAST_BITS are found by one table look-up; the rare longer ones by comparing with
// the first code of each length. A table for all 15 bits would cost more to fill than it saves.
#include "etl/bytes.h"
#include "etl/decompress.h"

enum {
    SYMBOLS = 512,
    TABLE_BYTES = SYMBOLS / 2,
    CODE_BITS_MAX = 15,
    FAST_BITS = 11,
    BLOCK_BYTES = 64 * 1024,
};

typedef struct HuffmanCode {
    uint16_t fast[1 << FAST_BITS];     // symbol << 4 | length; 0: longer or undefined
    uint16_t symbols[SYMBOLS];         // by code
    uint32_t limit[CODE_BITS_MAX + 2]; // first 15-bit aligned code above this length
    uint32_t first[CODE_BITS_MAX + 2]; // first code of this length
    uint16_t index[CODE_BITS_MAX + 2]; // of that code's symbol in symbols[]
} HuffmanCode;

typedef struct BitReader {
    const uint8_t *at, *end;
    uint32_t window; // next bits from bit 31 down
    int extra;       // bits of the window beyond the guaranteed 16
    int missing;     // bits of the window that lie behind the end of the input
} BitReader;

static unsigned code_length(const uint8_t *table, unsigned symbol) {
    return ((unsigned)table[symbol / 2] >> (symbol % 2 * 4)) & 15u;
}

static void fill_fast(HuffmanCode *code, uint32_t first, unsigned length, unsigned symbol) {
    uint32_t span = 1u << (FAST_BITS - length);
    uint32_t from = first << (FAST_BITS - length);
    for (uint32_t i = 0; i < span; i++) code->fast[from + i] = (uint16_t)(symbol << 4 | length);
}

// False when the lengths claim more codes than there are.
static bool code_build(HuffmanCode *code, const uint8_t *table) {
    unsigned counts[CODE_BITS_MAX + 1] = {0};
    for (unsigned s = 0; s < SYMBOLS; s++) counts[code_length(table, s)]++;
    memset(code->fast, 0, sizeof code->fast);
    uint32_t next[CODE_BITS_MAX + 1] = {0};
    uint16_t place[CODE_BITS_MAX + 1] = {0};
    uint32_t at = 0;
    uint16_t index = 0;
    for (unsigned length = 1; length <= CODE_BITS_MAX; length++) {
        at <<= 1;
        code->first[length] = next[length] = at;
        code->index[length] = place[length] = index;
        at += counts[length];
        index = (uint16_t)(index + counts[length]);
        if (at > 1u << length) return false;
        code->limit[length] = at << (CODE_BITS_MAX - length);
    }
    for (unsigned s = 0; s < SYMBOLS; s++) {
        unsigned length = code_length(table, s);
        if (length == 0) continue;
        uint32_t value = next[length]++;
        code->symbols[place[length]++] = (uint16_t)s;
        if (length <= FAST_BITS) fill_fast(code, value, length, s);
    }
    return true;
}

static uint32_t next_word(BitReader *bits) {
    if (bits->end - bits->at >= 2) {
        uint32_t word = le16(bits->at);
        bits->at += 2;
        return word;
    }
    bits->at = bits->end; // half a word is no length byte
    bits->missing += 16;
    return 0;
}

static bool bits_start(BitReader *bits) {
    bits->missing = 0;
    bits->window = next_word(bits) << 16;
    bits->window |= next_word(bits);
    bits->extra = 16;
    return bits->missing < 32;
}

// False when bits were used that the input does not have.
static bool bits_skip(BitReader *bits, unsigned count) {
    bits->window <<= count;
    bits->extra -= (int)count;
    if (bits->extra < 0) {
        bits->window |= next_word(bits) << -bits->extra;
        bits->extra += 16;
    }
    return 16 + bits->extra >= bits->missing;
}

// Symbol at the front of the window, consumed; -1 when there is none.
static int next_symbol(BitReader *bits, const HuffmanCode *code) {
    unsigned entry = code->fast[bits->window >> (32 - FAST_BITS)];
    if (entry) return bits_skip(bits, entry & 15) ? (int)(entry >> 4) : -1;
    uint32_t top = bits->window >> (32 - CODE_BITS_MAX);
    for (unsigned length = FAST_BITS + 1; length <= CODE_BITS_MAX; length++) {
        if (top >= code->limit[length]) continue;
        uint32_t nth = (top >> (CODE_BITS_MAX - length)) - code->first[length];
        unsigned symbol = code->symbols[code->index[length] + nth];
        return bits_skip(bits, length) ? (int)symbol : -1;
    }
    return -1;
}

static bool match_length(BitReader *bits, unsigned nibble, size_t *length) {
    *length = nibble + 3u;
    if (nibble < 15) return true;
    if (bits->at >= bits->end) return false;
    uint32_t value = *bits->at++;
    if (value == 255) {
        if (bits->end - bits->at < 2) return false;
        value = le16(bits->at);
        bits->at += 2;
        if (value == 0) {
            if (bits->end - bits->at < 4) return false;
            value = le32(bits->at);
            bits->at += 4;
        }
        if (value < 15) return false;
        value -= 15;
    }
    *length = (size_t)value + 15 + 3;
    return true;
}

// One match into out[made..room); returns the bytes made in all. *good: nothing was wrong.
static size_t put_match(BitReader *bits, unsigned match, uint8_t *out, size_t made, size_t room,
                        bool *good) {
    size_t length;
    unsigned distance_bits = match >> 4;
    *good = false;
    if (!match_length(bits, match & 15, &length)) return made;
    size_t distance = (size_t)1 << distance_bits;
    if (distance_bits > 0) distance += bits->window >> (32 - distance_bits);
    if (!bits_skip(bits, distance_bits) || distance > made) return made;
    *good = length <= room - made;
    if (!*good) length = room - made;
    for (; length > 0; length--, made++) out[made] = out[made - distance];
    return made;
}

size_t xpress_huffman_decompress(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size,
                                 bool *ok) {
    BitReader bits = {.at = in, .end = in ? in + in_size : in};
    HuffmanCode code;
    size_t made = 0;
    *ok = out_size == 0;
    while (made < out_size) {
        if (bits.end - bits.at < TABLE_BYTES || !code_build(&code, bits.at)) return made;
        bits.at += TABLE_BYTES;
        if (!bits_start(&bits)) return made;
        size_t block_end = out_size - made > BLOCK_BYTES ? made + BLOCK_BYTES : out_size;
        while (made < block_end) {
            int symbol = next_symbol(&bits, &code);
            if (symbol < 0) return made;
            if (symbol < 256) {
                out[made++] = (uint8_t)symbol;
                continue;
            }
            bool good;
            made = put_match(&bits, (unsigned)symbol - 256, out, made, out_size, &good);
            if (!good) return made;
        }
    }
    *ok = true;
    return made;
}
