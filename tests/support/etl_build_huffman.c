// XPRESS Huffman compressor (docs/formats/etl.md 1.8): LZ77 tokens of each 64 KiB are collected,
// counted, and written with a canonical code of at most 15 bits.
#include "support/etl_build_compress.h"

#include <string.h>

enum {
    BLOCK = 65536,
    SYMBOLS = 512,
    SYMBOL_END = 256, // closes the stream; readers that know the length never see it
    CODE_BITS_MAX = 15,
    MATCH_MIN = 3,
    HASH_BITS = 13,
};

typedef struct Token {
    uint16_t symbol;
    uint16_t distance; // 0: literal
    uint16_t length;   // minus 3; blocks are 65,536 long, so it fits
} Token;

typedef struct Block {
    Token tokens[BLOCK + 1];
    size_t count;
    uint32_t frequency[SYMBOLS];
    uint8_t bits[SYMBOLS];
    uint16_t codes[SYMBOLS];
} Block;

static unsigned log2_floor(uint32_t v) {
    return 31u - (unsigned)__builtin_clz(v);
}

static void add_token(Block *block, uint32_t symbol, size_t distance, size_t length) {
    block->tokens[block->count++] =
        (Token){(uint16_t)symbol, (uint16_t)distance, (uint16_t)(length ? length - MATCH_MIN : 0)};
    block->frequency[symbol]++;
}

// Matches reach back into earlier blocks (distance < 65,536) but never across the block's end.
static void find_tokens(Block *block, const uint8_t *data, size_t from, size_t to,
                        uint32_t *heads) {
    block->count = 0;
    memset(block->frequency, 0, sizeof block->frequency);
    for (size_t at = from; at < to;) {
        size_t length = 0, distance = 0;
        if (at + MATCH_MIN <= to) {
            uint32_t v =
                (uint32_t)data[at] | (uint32_t)data[at + 1] << 8 | (uint32_t)data[at + 2] << 16;
            uint32_t *head = &heads[(v * 0x9E3779B1u) >> (32 - HASH_BITS)];
            if (*head && at - (*head - 1) < 65536) {
                distance = at - (*head - 1);
                while (at + length < to && data[at + length - distance] == data[at + length])
                    length++;
            }
            *head = (uint32_t)(at + 1);
        }
        if (length < MATCH_MIN) {
            add_token(block, data[at++], 0, 0);
            continue;
        }
        size_t code = length - MATCH_MIN < 15 ? length - MATCH_MIN : 15;
        add_token(block, (uint32_t)(256 + (log2_floor((uint32_t)distance) << 4) + code), distance,
                  length);
        at += length;
    }
}

// Code lengths by repeatedly joining the two rarest trees. Rare symbols could need more than 15
// bits; flattening the frequencies and trying again ends that.
static bool code_lengths(Block *block) {
    uint32_t weight[2 * SYMBOLS];
    uint16_t parent[2 * SYMBOLS] = {0};
    bool open[2 * SYMBOLS] = {false};
    size_t nodes = SYMBOLS, live = 0;
    for (size_t i = 0; i < SYMBOLS; i++) {
        weight[i] = block->frequency[i];
        open[i] = weight[i] != 0;
        live += open[i];
    }
    for (; live > 1; live--) {
        size_t low[2] = {SIZE_MAX, SIZE_MAX};
        for (size_t i = 0; i < nodes; i++) {
            if (!open[i]) continue;
            if (low[0] == SIZE_MAX || weight[i] < weight[low[0]]) {
                low[1] = low[0];
                low[0] = i;
            } else if (low[1] == SIZE_MAX || weight[i] < weight[low[1]]) {
                low[1] = i;
            }
        }
        weight[nodes] = weight[low[0]] + weight[low[1]];
        open[nodes] = true;
        open[low[0]] = open[low[1]] = false;
        parent[low[0]] = parent[low[1]] = (uint16_t)nodes;
        nodes++;
    }
    for (size_t i = 0; i < SYMBOLS; i++) {
        unsigned depth = 0;
        for (size_t n = i; parent[n]; n = parent[n]) depth++;
        if (depth > CODE_BITS_MAX) return false;
        block->bits[i] = (uint8_t)depth;
    }
    return true;
}

static void make_code(Block *block) {
    // A code needs two symbols; the end symbol and a spare one make sure of it.
    block->frequency[SYMBOL_END] += 1;
    block->frequency[SYMBOL_END + 1] += 1;
    while (!code_lengths(block))
        for (size_t i = 0; i < SYMBOLS; i++)
            block->frequency[i] = block->frequency[i] ? block->frequency[i] / 2 + 1 : 0;
    uint16_t code = 0;
    for (unsigned bits = 1; bits <= CODE_BITS_MAX; bits++) {
        for (size_t i = 0; i < SYMBOLS; i++)
            if (block->bits[i] == bits) block->codes[i] = code++;
        code = (uint16_t)(code << 1);
    }
}

// 16-bit words are reserved two ahead of the bits, because readers fetch them that early; extra
// length bytes go between the words, at the cursor.
typedef struct Bits {
    uint8_t *out;
    size_t at;
    size_t slots[2];
    uint32_t word;
    unsigned free;
} Bits;

static void bits_begin(Bits *bits) {
    bits->slots[0] = bits->at;
    bits->slots[1] = bits->at + 2;
    bits->at += 4;
    bits->word = 0;
    bits->free = 16;
}

static void store_word(Bits *bits, size_t at, uint32_t word) {
    uint16_t value = (uint16_t)word;
    memcpy(bits->out + at, &value, 2);
}

static void bits_put(Bits *bits, uint32_t value, unsigned count) {
    if (count <= bits->free) {
        bits->free -= count;
        bits->word = bits->word << count | value;
        return;
    }
    unsigned over = count - bits->free;
    store_word(bits, bits->slots[0], bits->word << bits->free | value >> over);
    bits->slots[0] = bits->slots[1];
    bits->slots[1] = bits->at;
    bits->at += 2;
    bits->word = value & ((1u << over) - 1);
    bits->free = 16 - over;
}

static void bits_end(Bits *bits) {
    store_word(bits, bits->slots[0], bits->word << bits->free);
    store_word(bits, bits->slots[1], 0);
}

static void put_token(Bits *bits, const Block *block, const Token *token) {
    bits_put(bits, block->codes[token->symbol], block->bits[token->symbol]);
    if (token->distance == 0) return;
    if (token->length >= 15) {
        size_t rest = token->length - 15u;
        bits->out[bits->at++] = (uint8_t)(rest < 255 ? rest : 255);
        if (rest >= 255) {
            store_word(bits, bits->at, token->length);
            bits->at += 2;
        }
    }
    unsigned k = log2_floor(token->distance);
    bits_put(bits, token->distance - (1u << k), k);
}

void etl_compress_huffman(Str in, Buf *out) {
    Block *block = mem_alloc(sizeof *block);
    uint32_t *heads = mem_zero((size_t)1 << HASH_BITS, sizeof *heads);
    Bits bits = {.out = mem_alloc(in.n * 2 + (in.n / BLOCK + 1) * 512)};
    for (size_t from = 0; from < in.n || from == 0; from += BLOCK) {
        size_t to = in.n - from < BLOCK ? in.n : from + BLOCK;
        find_tokens(block, (const uint8_t *)in.p, from, to, heads);
        make_code(block);
        for (size_t i = 0; i < SYMBOLS; i += 2)
            bits.out[bits.at++] = (uint8_t)(block->bits[i] | block->bits[i + 1] << 4);
        bits_begin(&bits);
        for (size_t i = 0; i < block->count; i++) put_token(&bits, block, &block->tokens[i]);
        if (to == in.n) bits_put(&bits, block->codes[SYMBOL_END], block->bits[SYMBOL_END]);
        bits_end(&bits);
    }
    buf_add(out, (Str){(const char *)bits.out, bits.at});
    mem_free(bits.out);
    mem_free(heads);
    mem_free(block);
}
