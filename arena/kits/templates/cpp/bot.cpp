// @NAME@: a bot in C++17 without any library. Print to stderr only: stdout belongs to the arena.
#include "wire.hpp"

struct Random {  // xorshift64 (Marsaglia 2003): small, and the same in every language
    std::uint64_t state;
    explicit Random(std::uint64_t seed) : state(seed ^ 0x9E3779B97F4A7C15u) {}
    std::uint64_t below(std::uint64_t limit) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (state >> 11) % limit;
    }
};

// Return an action: here any of the legal ones.
// match["game"], match["options"] and match["seat"] say what is played; act["observation"] is the position,
// act["clock"]["seconds"] what this action may take.
static Value choose(const Value &match, const Value &act, Random &random) {
    (void)match;
    const List &legal = act["legal"].list();
    // YOUR IDEA GOES HERE: return the action you like best instead.
    return legal[random.below(legal.size())];
}

int main() {
    Value match = nullptr;
    Random random(0);
    while (auto message = receive()) {
        const std::string &type = (*message)["type"].text();
        if (type == "hello") {
            send(Map{{"type", "ready"}, {"protocol", 1}, {"name", "@NAME@"}});
        } else if (type == "match") {  // begin afresh: the same process plays many matches
            match = *message;
            random = Random(std::uint64_t(match["rng_seed"].integer()));
        } else if (type == "act") {
            send(Map{{"type", "action"}, {"ply", (*message)["ply"]}, {"action", choose(match, *message, random)}});
        } else if (type == "quit") {
            break;
        }
    }
}
