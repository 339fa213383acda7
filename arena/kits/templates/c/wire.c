#include "wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t input[1 << 20], output[1 << 20];
static size_t written = 4; /* the first four bytes are for the length */
static Value pool[1 << 20]; /* no message has more values than bytes */
static size_t used;
static const uint8_t *here, *end;

static uint64_t big_endian(int bytes) {
    uint64_t number = 0;
    if (end - here < bytes) { here = end + 1; return 0; }
    while (bytes--) number = number << 8 | *here++;
    return number;
}

static int decode(Value *value);

static int decode_text(Value *value, uint64_t count) {
    if (here > end || (uint64_t)(end - here) < count) return 0;
    *value = (Value){.kind = TEXT, .text = (const char *)here, .count = (uint32_t)count};
    here += count;
    return 1;
}

static int decode_items(Value *value, Kind kind, uint64_t count) {
    size_t slots = (size_t)count * (kind == MAP ? 2 : 1);
    if (count > sizeof pool / sizeof *pool || used + slots > sizeof pool / sizeof *pool) return 0;
    Value *items = pool + used;
    used += slots;
    *value = (Value){.kind = kind, .count = (uint32_t)count, .items = items};
    for (size_t k = 0; k < slots; k++)
        if (!decode(items + k)) return 0;
    return 1;
}

static int decode(Value *value) {
    if (here >= end) return 0;
    uint8_t tag = *here++;
    *value = (Value){.kind = INTEGER};
    if (tag < 0x80) value->integer = tag;
    else if (tag >= 0xe0) value->integer = (int8_t)tag;
    else if (tag < 0x90) return decode_items(value, MAP, tag & 0x0f);
    else if (tag < 0xa0) return decode_items(value, LIST, tag & 0x0f);
    else if (tag < 0xc0) return decode_text(value, tag & 0x1f);
    else switch (tag) {
        case 0xc0: value->kind = NIL; break;
        case 0xc2: case 0xc3: value->kind = BOOLEAN; value->integer = tag == 0xc3; break;
        case 0xca: { uint32_t bits = (uint32_t)big_endian(4); float f; memcpy(&f, &bits, 4); value->kind = REAL; value->real = f; break; }
        case 0xcb: { uint64_t bits = big_endian(8); memcpy(&value->real, &bits, 8); value->kind = REAL; break; }
        case 0xcc: case 0xcd: case 0xce: case 0xcf: value->integer = (int64_t)big_endian(1 << (tag - 0xcc)); break;
        case 0xd0: value->integer = (int8_t)big_endian(1); break;
        case 0xd1: value->integer = (int16_t)big_endian(2); break;
        case 0xd2: value->integer = (int32_t)big_endian(4); break;
        case 0xd3: value->integer = (int64_t)big_endian(8); break;
        case 0xd9: case 0xda: case 0xdb: return decode_text(value, big_endian(1 << (tag - 0xd9)));
        case 0xdc: case 0xdd: return decode_items(value, LIST, big_endian(2 << (tag - 0xdc)));
        case 0xde: case 0xdf: return decode_items(value, MAP, big_endian(2 << (tag - 0xde)));
        default: return 0;
    }
    return here <= end;
}

const Value *wire_decode(const uint8_t *data, size_t n) {
    here = data, end = data + n, used = 1;
    return decode(pool) && here == end ? pool : NULL;
}

const Value *wire_receive(void) {
    uint8_t head[4];
    if (fread(head, 1, 4, stdin) < 4) return NULL;
    size_t n = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    if (n > sizeof input || fread(input, 1, n, stdin) < n) return NULL;
    return wire_decode(input, n);
}

int is_text(const Value *value, const char *text) {
    return value && value->kind == TEXT && value->count == strlen(text) && !memcmp(value->text, text, value->count);
}

const Value *get(const Value *map, const char *key) {
    for (uint32_t k = 0; map && map->kind == MAP && k < map->count; k++)
        if (is_text(map->items + 2 * k, key)) return map->items + 2 * k + 1;
    return NULL;
}

static void put(int tag, int bytes, uint64_t number) {
    if (written + 9 > sizeof output) { fputs("this message is too long\n", stderr); exit(1); }
    output[written++] = (uint8_t)tag;
    while (bytes--) output[written++] = (uint8_t)(number >> 8 * bytes);
}

static void put_bytes(const char *text, uint32_t n) {
    if (n < 32) put(0xa0 | (int)n, 0, 0); else if (n < 256) put(0xd9, 1, n); else if (n < 65536) put(0xda, 2, n); else put(0xdb, 4, n);
    if (written + n > sizeof output) { fputs("this message is too long\n", stderr); exit(1); }
    memcpy(output + written, text, n);
    written += n;
}

void put_text(const char *text) { put_bytes(text, (uint32_t)strlen(text)); }
void put_map(uint32_t n) { if (n < 16) put(0x80 | (int)n, 0, 0); else if (n < 65536) put(0xde, 2, n); else put(0xdf, 4, n); }
void put_list(uint32_t n) { if (n < 16) put(0x90 | (int)n, 0, 0); else if (n < 65536) put(0xdc, 2, n); else put(0xdd, 4, n); }

void put_integer(int64_t i) {
    uint64_t u = (uint64_t)i;
    if (i >= 0) {
        if (i < 128) put((int)i, 0, 0); else if (i < 256) put(0xcc, 1, u); else if (i < 65536) put(0xcd, 2, u);
        else if (i <= UINT32_MAX) put(0xce, 4, u); else put(0xcf, 8, u);
    } else if (i >= -32) put((int)(uint8_t)i, 0, 0); else if (i >= INT8_MIN) put(0xd0, 1, u);
    else if (i >= INT16_MIN) put(0xd1, 2, u); else if (i >= INT32_MIN) put(0xd2, 4, u); else put(0xd3, 8, u);
}

void put_value(const Value *v) {
    uint64_t bits;
    switch (v->kind) {
        case NIL: put(0xc0, 0, 0); break;
        case BOOLEAN: put(v->integer ? 0xc3 : 0xc2, 0, 0); break;
        case INTEGER: put_integer(v->integer); break;
        case REAL: memcpy(&bits, &v->real, 8); put(0xcb, 8, bits); break;
        case TEXT: put_bytes(v->text, v->count); break;
        default:
            if (v->kind == MAP) put_map(v->count); else put_list(v->count);
            for (size_t k = 0; k < (size_t)v->count * (v->kind == MAP ? 2 : 1); k++) put_value(v->items + k);
    }
}

size_t wire_frame(const uint8_t **frame) {
    size_t n = written - 4;
    for (int k = 0; k < 4; k++) output[k] = (uint8_t)(n >> 8 * (3 - k));
    *frame = output;
    written = 4;
    return n + 4;
}

void wire_send(void) {
    const uint8_t *frame;
    size_t n = wire_frame(&frame);
    fwrite(frame, 1, n, stdout);
    fflush(stdout);
}
