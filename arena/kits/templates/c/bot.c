/* @NAME@: a bot in C without any library. Print to stderr only: stdout belongs to the arena. */
#include <stdio.h>

#include "wire.h"

static uint64_t state; /* xorshift64 (Marsaglia 2003): small, and the same in every language */

static uint32_t random_below(uint32_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 11) % limit);
}

/* Return an action: here any of the legal ones.

   get(act, "observation") is the position, get(get(act, "clock"), "seconds") what this action may take. What the match
   message told (game, options, seat) is gone with the next message: copy what you need when it comes, below. */
static const Value *choose(const Value *act) {
    const Value *legal = get(act, "legal");
    /* YOUR IDEA GOES HERE: return the action you like best instead. */
    return legal->items + random_below(legal->count);
}

int main(void) {
    for (const Value *message; (message = wire_receive());) {
        const Value *type = get(message, "type");
        if (is_text(type, "hello")) {
            put_map(3);
            put_text("type"), put_text("ready");
            put_text("protocol"), put_integer(1);
            put_text("name"), put_text("@NAME@");
            wire_send();
        } else if (is_text(type, "match")) { /* begin afresh: the same process plays many matches */
            state = (uint64_t)get(message, "rng_seed")->integer ^ 0x9E3779B97F4A7C15u;
        } else if (is_text(type, "act")) {
            put_map(3);
            put_text("type"), put_text("action");
            put_text("ply"), put_value(get(message, "ply"));
            put_text("action"), put_value(choose(message));
            wire_send();
        } else if (is_text(type, "quit")) {
            break;
        }
    }
    return 0;
}
