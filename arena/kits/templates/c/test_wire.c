/* The codec against the golden frames. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

static char shown[1 << 16];

static void show(const Value *v) {
    char *at = shown + strlen(shown);
    switch (v->kind) {
        case NIL: strcpy(at, "null"); break;
        case BOOLEAN: strcpy(at, v->integer ? "true" : "false"); break;
        case INTEGER: sprintf(at, "%lld", (long long)v->integer); break;
        case REAL: sprintf(at, "%g", v->real); break;
        case TEXT: sprintf(at, "\"%.*s\"", (int)v->count, v->text); break;
        default:
            strcat(shown, v->kind == MAP ? "{" : "[");
            for (uint32_t k = 0; k < v->count; k++) {
                if (k) strcat(shown, ",");
                if (v->kind == MAP) show(v->items + 2 * k), strcat(shown, ":"), show(v->items + 2 * k + 1);
                else show(v->items + k);
            }
            strcat(shown, v->kind == MAP ? "}" : "]");
    }
}

static void fail(const char *name, const char *why) {
    fprintf(stderr, "%s: %s\n", name, why);
    exit(1);
}

int main(void) {
    static char line[1 << 17], frame[1 << 16];
    int count = 0;
    FILE *file = fopen("golden_frames.txt", "r");
    if (!file) fail("golden_frames.txt", "run this in the bot's directory");
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || line[0] == '\n') continue;
        char *name = strtok(line, " "), *hex = strtok(NULL, " "), *text = strtok(NULL, "\n");
        size_t n = strlen(hex) / 2;
        for (size_t k = 0; k < n; k++) sscanf(hex + 2 * k, "%2hhx", (unsigned char *)frame + k);
        const Value *value = wire_decode((uint8_t *)frame + 4, n - 4);
        if (!value) fail(name, "can't be read");
        shown[0] = 0, show(value);
        if (strcmp(shown, text)) fail(name, shown);
        const uint8_t *again;
        put_value(value);
        if (wire_frame(&again) != n || memcmp(again, frame, n)) fail(name, "written differently");
        count++;
    }
    printf("%d frames are read and written as they should be\n", count);
    return count == 0;
}
