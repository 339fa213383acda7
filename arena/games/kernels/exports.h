/* What Python calls: loading.py has the same list. A handle is the rules with one state. */

typedef struct {
    game rules;
    state now;
    undo last;   /* of the last kernel_make */
} handle;

#define EXPORT __attribute__((visibility("default")))

/* A handle in the state before the first action; NULL without memory or for options that no game has. */
EXPORT handle *kernel_new(const int32_t *options) {
    handle *kernel = calloc(1, sizeof *kernel);
    if (!kernel) return NULL;
    if (!prepare(&kernel->rules, options)) {
        free(kernel);
        return NULL;
    }
    start(&kernel->rules, &kernel->now);
    return kernel;
}

EXPORT void kernel_delete(handle *kernel) { free(kernel); }

EXPORT int32_t kernel_max_packed(void) { return MAX_PACKED; }

EXPORT void kernel_start(handle *kernel) { start(&kernel->rules, &kernel->now); }

EXPORT int32_t kernel_pack(const handle *kernel, int32_t *numbers) {
    return pack(&kernel->rules, &kernel->now, numbers);
}

EXPORT void kernel_unpack(handle *kernel, const int32_t *numbers, int32_t count) {
    unpack(&kernel->rules, &kernel->now, numbers, count);
}

EXPORT int32_t kernel_seat_to_act(const handle *kernel) { return seat_to_act(&kernel->rules, &kernel->now); }

EXPORT int32_t kernel_count_actions(const handle *kernel) { return count_actions(&kernel->rules, &kernel->now); }

EXPORT void kernel_actions(const handle *kernel, int32_t *actions) {
    int count = count_actions(&kernel->rules, &kernel->now);
    for (int n = 0; n < count; n++) actions[n] = nth_action(&kernel->rules, &kernel->now, n);
}

/* 0 for an action that is not legal, which changes nothing. */
EXPORT int32_t kernel_make(handle *kernel, int32_t action) {
    int count = count_actions(&kernel->rules, &kernel->now);
    for (int n = 0; n < count; n++) {
        if (nth_action(&kernel->rules, &kernel->now, n) != action) continue;
        make(&kernel->rules, &kernel->now, action, &kernel->last);
        return 1;
    }
    return 0;
}

/* Take back the last kernel_make; once. */
EXPORT void kernel_unmake(handle *kernel) { unmake(&kernel->rules, &kernel->now, &kernel->last); }

/* 0 if scores are so near to each other that the ranks are for Python to decide. */
static int result(const game *rules, const state *now, double *totals, int32_t *ranks) {
    scores(rules, now, totals);
    return rank(totals, rules->players, uncertainty(rules, now, totals), ranks);
}

EXPORT int32_t kernel_result(const handle *kernel, double *totals, int32_t *ranks) {
    return result(&kernel->rules, &kernel->now, totals, ranks);
}

/* Play a random playout and stay at its end. Writes the seat to act, the number of legal actions and the action of each
 * ply below limit, and returns the number of plies. */
EXPORT int64_t kernel_trace(handle *kernel, uint64_t seed, uint64_t index, int32_t *plies, int64_t limit) {
    uint64_t generator = generator_of(seed, index);
    int64_t ply = 0;
    for (int count; (count = count_actions(&kernel->rules, &kernel->now)); ply++) {
        int action = nth_action(&kernel->rules, &kernel->now, random_below(&generator, count));
        if (ply < limit) {
            plies[3 * ply] = seat_to_act(&kernel->rules, &kernel->now);
            plies[3 * ply + 1] = count;
            plies[3 * ply + 2] = action;
        }
        make(&kernel->rules, &kernel->now, action, &kernel->last);
    }
    return ply;
}

/* Random playouts first, first + 1, … from the state, which stays. Adds to how often seat s had rank r, at
 * ranked[s * players + r - 1], to each seat's scores, and to the plies. Returns how many were played: fewer than count if
 * the next one has a result that Python must decide. */
EXPORT int64_t kernel_playouts(const handle *kernel, uint64_t seed, uint64_t first, int64_t count, int64_t *ranked,
                               double *score_sums, int64_t *plies) {
    const game *rules = &kernel->rules;
#ifdef HAS_OWN_PLAYOUTS
    if (plays_fast(rules)) return play_fast(rules, &kernel->now, seed, first, count, ranked, score_sums, plies);
#endif
    double totals[MAX_PLAYERS] = {0};
    int32_t ranks[MAX_PLAYERS];
    state now;
    undo last;
    for (int64_t played = 0; played < count; played++) {
        uint64_t generator = generator_of(seed, first + (uint64_t)played);
        int64_t length = 0;
        copy_state(rules, &now, &kernel->now);
        for (int choices; (choices = count_actions(rules, &now)); length++)
            make(rules, &now, nth_action(rules, &now, random_below(&generator, choices)), &last);
        if (!result(rules, &now, totals, ranks)) return played;
        *plies += length;
        for (int seat = 0; seat < rules->players; seat++) {
            ranked[seat * rules->players + ranks[seat] - 1]++;
            score_sums[seat] += totals[seat];
        }
    }
    return count;
}

/* As kernel_playouts. Adds what observed in kernel.py tells of each playout to sums, its squares to squares, and its products
 * with the plies to products. */
EXPORT int64_t kernel_profile(const handle *kernel, uint64_t seed, uint64_t first, int64_t count, double *sums,
                              double *squares, double *products) {
    const game *rules = &kernel->rules;
    const int players = rules->players;
    double totals[MAX_PLAYERS] = {0};
    int32_t ranks[MAX_PLAYERS];
    state now;
    undo last;
    for (int64_t played = 0; played < count; played++) {
        uint64_t generator = generator_of(seed, first + (uint64_t)played);
        double seen[MAX_PLAYERS + 5] = {0}, *others = seen + players;
        copy_state(rules, &now, &kernel->now);
        for (int choices; (choices = count_actions(rules, &now)); others[2]++) {
            others[3] += choices;
            others[4] += choices == 1;
            make(rules, &now, nth_action(rules, &now, random_below(&generator, choices)), &last);
        }
        if (!result(rules, &now, totals, ranks)) return played;
        double best = -INFINITY, second = -INFINITY;
        for (int seat = 0; seat < players; seat++) {
            second = fmax(second, fmin(best, totals[seat]));
            best = fmax(best, totals[seat]);
            for (int other = 0; other < players; other++) {
                if (other == seat) continue;
                seen[seat] += (ranks[other] > ranks[seat]) + (ranks[other] == ranks[seat]) / 2.0;
                if (ranks[seat] == 1 && ranks[other] == 1) others[0] = 1;
            }
            seen[seat] /= players - 1;
        }
        others[1] = best - second;
        for (int k = 0; k < players + 5; k++) {
            sums[k] += seen[k];
            squares[k] += seen[k] * seen[k];
            products[k] += seen[k] * others[2];
        }
    }
    return count;
}

static int64_t lines_below(const game *rules, state *now, int depth) {
    int count = count_actions(rules, now);
    int64_t lines = 0;
    undo back;
    if (depth == 1) return count;
    for (int n = 0; n < count; n++) {
        make(rules, now, nth_action(rules, now, n), &back);
        lines += lines_below(rules, now, depth - 1);
        unmake(rules, now, &back);
    }
    return lines;
}

/* How many sequences of depth legal actions there are from the state, which stays; depth is 1 or more. */
EXPORT int64_t kernel_lines(handle *kernel, int32_t depth) { return lines_below(&kernel->rules, &kernel->now, depth); }
