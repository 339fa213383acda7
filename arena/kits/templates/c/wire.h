/* Frames of msgpack on stdin and stdout, for one message at a time: the next wire_receive reuses all memory. */
#ifndef WIRE_H
#define WIRE_H
#include <stddef.h>
#include <stdint.h>

typedef enum { NIL, BOOLEAN, INTEGER, REAL, TEXT, LIST, MAP } Kind;

typedef struct Value {
    Kind kind;
    int64_t integer;          /* BOOLEAN (0 or 1) and INTEGER */
    double real;              /* REAL */
    const char *text;         /* TEXT: not ended by a zero, see count */
    uint32_t count;           /* TEXT: bytes; LIST: items; MAP: pairs */
    const struct Value *items; /* LIST: items; MAP: key, value, key, value, ... */
} Value;

const Value *wire_receive(void);                         /* NULL when the arena has gone */
const Value *wire_decode(const uint8_t *data, size_t n); /* NULL if it is no whole value */
const Value *get(const Value *map, const char *key);     /* NULL if there is no such key */
int is_text(const Value *value, const char *text);

/* A message is put together with these, then sent. Begin with the number of pairs. */
void put_map(uint32_t pairs);
void put_list(uint32_t items);
void put_text(const char *text);
void put_integer(int64_t number);
void put_value(const Value *value);
void wire_send(void);
size_t wire_frame(const uint8_t **frame); /* what wire_send would write */
#endif
