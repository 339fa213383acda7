/* A bot that answers at once, for plusminus and differences: it follows the marks and takes the first free square.
   It wants neither observation nor legal actions, as a bot does that keeps its own state. With the argument "all" it
   wants (and ignores) both; with "busy" and a number, each answer takes so many microseconds of CPU time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned char in[1 << 20], out[256];
static unsigned char *at;
static int size, signs_left, column_taken[128], row_taken[128];

static int read_all(unsigned char *to, size_t count) {
    while (count) {
        ssize_t got = read(0, to, count);
        if (got <= 0) return 0;
        to += got, count -= (size_t)got;
    }
    return 1;
}

static uint64_t big_endian(int bytes) {
    uint64_t value = 0;
    while (bytes--) value = value << 8 | *at++;
    return value;
}

/* Read the head of a value: returns its length (string, list, map) or its number. */
static uint64_t head(void) {
    unsigned char byte = *at++;
    if (byte < 0x80) return byte;
    if (byte < 0x90 || byte < 0xa0) return byte & 0x0f;
    if (byte < 0xc0) return byte & 0x1f;
    switch (byte) {
    case 0xcc: case 0xd9: return big_endian(1);
    case 0xcd: case 0xda: case 0xdc: case 0xde: return big_endian(2);
    case 0xce: case 0xdb: case 0xdd: case 0xdf: return big_endian(4);
    case 0xcf: case 0xcb: return big_endian(8);
    default: return 0;
    }
}

static void skip(void) {
    unsigned char byte = *at;
    uint64_t length = head();
    if ((byte >= 0xa0 && byte < 0xc0) || (byte >= 0xd9 && byte <= 0xdb)) at += length;
    else if ((byte >= 0x90 && byte < 0xa0) || byte == 0xdc || byte == 0xdd) while (length--) skip();
    else if ((byte >= 0x80 && byte < 0x90) || byte == 0xde || byte == 0xdf) while (length--) skip(), skip();
}

static int text_is(const char *text) {
    unsigned char *start = at;
    uint64_t length = head();
    int same = length == strlen(text) && !memcmp(at, text, length);
    if (same) at += length; else at = start;
    return same;
}

static void follow_actions(void) {
    for (uint64_t count = head(); count--;) {
        head(), head(); /* the pair, the seat */
        if (*at >= 0xa0 && *at < 0xc0) { skip(), signs_left--; continue; }
        head();
        column_taken[head()] = 1, row_taken[head()] = 1;
    }
}

static void send_frame(unsigned char *end) {
    uint32_t length = (uint32_t)(end - out - 4);
    out[0] = length >> 24, out[1] = length >> 16, out[2] = length >> 8, out[3] = length;
    if (write(1, out, length + 4) < 0) _exit(1);
}

static unsigned char *put(unsigned char *to, const char *text) {
    size_t length = strlen(text);
    *to++ = 0xa0 | length;
    memcpy(to, text, length);
    return to + length;
}

static int64_t cpu_microseconds(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

int main(int argc, char **argv) {
    int wants_all = argc > 1 && !strcmp(argv[1], "all");
    int64_t busy = argc > 2 && !strcmp(argv[1], "busy") ? atoll(argv[2]) : 0;
    while (read_all(in, 4)) {
        uint32_t length = (uint32_t)in[0] << 24 | in[1] << 16 | in[2] << 8 | in[3];
        if (length > sizeof in || !read_all(in, length)) return 0;
        at = in;
        uint64_t fields = head();
        int is_act = 0, is_hello = 0, is_match = 0;
        uint64_t ply = 0;
        while (fields--) {
            if (text_is("type")) {
                is_act = text_is("act"), is_hello = !is_act && text_is("hello"), is_match = !is_act && !is_hello && text_is("match");
                if (!is_act && !is_hello && !is_match) { if (text_is("quit")) return 0; skip(); }
            } else if (text_is("ply")) ply = head();
            else if (is_act && text_is("actions")) follow_actions();
            else if (is_match && text_is("options")) {
                int predicts = 0;
                for (uint64_t options = head(); options--;) {
                    if (text_is("size")) size = (int)head();
                    else { if (text_is("grid_first")) predicts = 1; else skip(); skip(); }
                }
                signs_left = predicts ? 2 * (size - 1) : 0;
                memset(column_taken, 0, sizeof column_taken), memset(row_taken, 0, sizeof row_taken);
            } else skip(), skip();
        }
        unsigned char *to = out + 4;
        if (is_hello) {
            *to++ = 0x83;
            to = put(to, "type"), to = put(to, "ready"), to = put(to, "protocol"), *to++ = 1;
            to = put(to, "wants"), *to++ = 0x82;
            to = put(to, "legal"), *to++ = wants_all ? 0xc3 : 0xc2;
            to = put(to, "observation"), *to++ = wants_all ? 0xc3 : 0xc2;
            send_frame(to);
        } else if (is_act) {
            for (int64_t until = cpu_microseconds() + busy; busy && cpu_microseconds() < until;) {}
            *to++ = 0x83;
            to = put(to, "type"), to = put(to, "action"), to = put(to, "ply"), *to++ = (unsigned char)ply;
            to = put(to, "action");
            if (signs_left > 0) to = put(to, "+");
            else {
                int x = 1, y = 1;
                while (column_taken[x]) x++;
                while (row_taken[y]) y++;
                *to++ = 0x92, *to++ = (unsigned char)x, *to++ = (unsigned char)y;
            }
            send_frame(to);
        }
    }
    return 0;
}
