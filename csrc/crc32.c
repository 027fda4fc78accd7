/* CRC-32, eight bytes a step ("slicing by 8"). */
#include "crc32.h"

/* A crc is linear: the row of byte b is the exclusive or of the rows of b's bits, so eight constants make a table of
 * 256. SLICE takes the crc of bytes 1, 2, 4 ... 128, each followed by as many zero bytes as the slice's number. */
#define ENTRY(i, a, b, c, d, e, f, g, h)                                                         \
    (((i) & 1 ? (a) : 0u) ^ ((i) & 2 ? (b) : 0u) ^ ((i) & 4 ? (c) : 0u) ^ ((i) & 8 ? (d) : 0u) ^ \
     ((i) & 16 ? (e) : 0u) ^ ((i) & 32 ? (f) : 0u) ^ ((i) & 64 ? (g) : 0u) ^ ((i) & 128 ? (h) : 0u))
#define FOUR(i, ...) \
    ENTRY(i, __VA_ARGS__), ENTRY(i + 1, __VA_ARGS__), ENTRY(i + 2, __VA_ARGS__), ENTRY(i + 3, __VA_ARGS__)
#define SIXTEEN(i, ...) \
    FOUR(i, __VA_ARGS__), FOUR(i + 4, __VA_ARGS__), FOUR(i + 8, __VA_ARGS__), FOUR(i + 12, __VA_ARGS__)
#define SIXTYFOUR(i, ...) \
    SIXTEEN(i, __VA_ARGS__), SIXTEEN(i + 16, __VA_ARGS__), SIXTEEN(i + 32, __VA_ARGS__), SIXTEEN(i + 48, __VA_ARGS__)
#define SLICE(...) \
    {SIXTYFOUR(0, __VA_ARGS__), SIXTYFOUR(64, __VA_ARGS__), SIXTYFOUR(128, __VA_ARGS__), SIXTYFOUR(192, __VA_ARGS__)}

static const uint32_t slices[8][256] = {
    SLICE(0x77073096u, 0xee0e612cu, 0x076dc419u, 0x0edb8832u, 0x1db71064u, 0x3b6e20c8u, 0x76dc4190u, 0xedb88320u),
    SLICE(0x191b3141u, 0x32366282u, 0x646cc504u, 0xc8d98a08u, 0x4ac21251u, 0x958424a2u, 0xf0794f05u, 0x3b83984bu),
    SLICE(0x01c26a37u, 0x0384d46eu, 0x0709a8dcu, 0x0e1351b8u, 0x1c26a370u, 0x384d46e0u, 0x709a8dc0u, 0xe1351b80u),
    SLICE(0xb8bc6765u, 0xaa09c88bu, 0x8f629757u, 0xc5b428efu, 0x5019579fu, 0xa032af3eu, 0x9b14583du, 0xed59b63bu),
    SLICE(0x3d6029b0u, 0x7ac05360u, 0xf580a6c0u, 0x30704bc1u, 0x60e09782u, 0xc1c12f04u, 0x58f35849u, 0xb1e6b092u),
    SLICE(0xcb5cd3a5u, 0x4dc8a10bu, 0x9b914216u, 0xec53826du, 0x03d6029bu, 0x07ac0536u, 0x0f580a6cu, 0x1eb014d8u),
    SLICE(0xa6770bb4u, 0x979f1129u, 0xf44f2413u, 0x33ef4e67u, 0x67de9cceu, 0xcfbd399cu, 0x440b7579u, 0x8816eaf2u),
    SLICE(0xccaa009eu, 0x4225077du, 0x844a0efau, 0xd3e51bb5u, 0x7cbb312bu, 0xf9766256u, 0x299dc2edu, 0x533b85dau),
};

uint32_t kb_crc32(const uint8_t *bytes, size_t length) { return kb_crc32_more(0, bytes, length); }

uint32_t kb_crc32_more(uint32_t crc, const uint8_t *bytes, size_t length) {
    crc = ~crc;
    for (; length >= 8; bytes += 8, length -= 8) {
        crc ^= (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
        crc = slices[7][crc & 0xFF] ^ slices[6][crc >> 8 & 0xFF] ^ slices[5][crc >> 16 & 0xFF] ^ slices[4][crc >> 24] ^
              slices[3][bytes[4]] ^ slices[2][bytes[5]] ^ slices[1][bytes[6]] ^ slices[0][bytes[7]];
    }
    for (; length > 0; bytes++, length--)
        crc = slices[0][(crc ^ *bytes) & 0xFF] ^ crc >> 8;
    return ~crc;
}
