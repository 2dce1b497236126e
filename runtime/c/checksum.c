/* Checksums: that of zip, and those by which a manifest vouches for entries.
 *
 * SHA-256 is FIPS 180-4; the fold of large entries is defined in runtime/file/checksum.py. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

uint32_t crc32_of(bytes data) {
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < data.size; i++) {
        crc ^= data.data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static const uint32_t ROUNDS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

#define BLOCK 64

typedef struct sha256 {
    uint32_t state[8];
    unsigned char block[BLOCK];
    uint64_t size;
} sha256;

static uint32_t rotate(uint32_t word, int by) {
    return word >> by | word << (32 - by);
}

/* Do a round; the letters are those of the standard, `h` becomes the next `a`. */
static inline void sha256_round(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e,
                                uint32_t f, uint32_t g, uint32_t *h, uint32_t word) {
    uint32_t one = *h + word + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                   ((e & f) ^ (~e & g));
    uint32_t two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    *d += one;
    *h = one + two;
}

static void sha256_block(sha256 *hash, const unsigned char *block) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, hash->state, sizeof s);
#define ROUND(n)                                                                                  \
    sha256_round(s[(0 - n) & 7], s[(1 - n) & 7], s[(2 - n) & 7], &s[(3 - n) & 7], s[(4 - n) & 7], \
                 s[(5 - n) & 7], s[(6 - n) & 7], &s[(7 - n) & 7], ROUNDS[i + n] + w[i + n])
    for (int i = 0; i < 64; i += 8) {
        ROUND(0);
        ROUND(1);
        ROUND(2);
        ROUND(3);
        ROUND(4);
        ROUND(5);
        ROUND(6);
        ROUND(7);
    }
#undef ROUND
    for (int i = 0; i < 8; i++)
        hash->state[i] += s[i];
}

static void sha256_begin(sha256 *hash) {
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    *hash = (sha256){.size = 0};
    memcpy(hash->state, start, sizeof start);
}

static void sha256_add(sha256 *hash, const void *data, size_t size) {
    const unsigned char *at = data;
    size_t used = hash->size % BLOCK;
    hash->size += size;
    for (; size; used = 0) {
        size_t part = BLOCK - used < size ? BLOCK - used : size;
        if (part == BLOCK) {
            sha256_block(hash, at);
        } else {
            memcpy(hash->block + used, at, part);
            if (used + part == BLOCK)
                sha256_block(hash, hash->block);
        }
        at += part;
        size -= part;
    }
}

static void sha256_end(sha256 *hash, char hex[65]) {
    static const char digits[] = "0123456789abcdef";
    static const unsigned char zeros[BLOCK];
    uint64_t bits = hash->size * 8;
    unsigned char end[8];
    for (int i = 0; i < 8; i++)
        end[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(hash, "\x80", 1);
    sha256_add(hash, zeros, (2 * BLOCK - 8 - hash->size % BLOCK) % BLOCK);
    sha256_add(hash, end, sizeof end);
    for (int i = 0; i < 64; i++)
        hex[i] = digits[hash->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = 0;
}

enum { ROWS = 128, COLUMNS = 256, FOLDED = ROWS * COLUMNS * 8 };

/* Add the sum of each row and the exclusive or of each column of 128 x 256 words. */
static void fold_block(sha256 *hash, const unsigned char *data) {
    uint64_t sums[ROWS], columns[COLUMNS] = {0}, row[COLUMNS];
    for (int i = 0; i < ROWS; i++) {
        memcpy(row, data + i * sizeof row, sizeof row);
        uint64_t sum = 0;
        for (int j = 0; j < COLUMNS; j++) {
            sum += row[j];
            columns[j] ^= row[j];
        }
        sums[i] = sum;
    }
    sha256_add(hash, sums, sizeof sums);
    sha256_add(hash, columns, sizeof columns);
}

bool has_checksum(bytes data, const char *expected) {
    bool folds = data.size > (size_t)1 << 20 && strncmp(expected, "sha256:", 7);
    const char *kind = folds ? "fold:" : "sha256:";
    sha256 hash;
    sha256_begin(&hash);
    size_t whole = folds ? data.size / FOLDED * FOLDED : 0;
    for (size_t at = 0; at < whole; at += FOLDED)
        fold_block(&hash, data.data + at);
    if (data.size > whole)
        sha256_add(&hash, data.data + whole, data.size - whole);
    if (folds) {
        uint64_t size = data.size;
        sha256_add(&hash, &size, sizeof size);
    }
    char hex[65];
    sha256_end(&hash, hex);
    size_t length = strlen(kind);
    return !strncmp(expected, kind, length) && !strcmp(expected + length, hex);
}
