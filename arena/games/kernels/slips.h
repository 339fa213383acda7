/* Encounters of two bots that slip, from a state on; slips.py has the same by the rules.
 *
 * What each state below is worth with best play, as the margin of seat 0 in parts of a point, is computed once and kept in
 * a table. A game in which a state remembers what no longer matters, because the margin so far can be taken off, defines
 * HAS_SETTLED and these two; else they are the whole state, and nothing:
 *
 *   int pack_rest(const game *, const state *, int32_t *)      what decides the margin that is still to come
 *   double settled(const game *, const state *)                the margin so far
 */

#ifndef HAS_SETTLED
static int pack_rest(const game *rules, const state *now, int32_t *numbers) { return pack(rules, now, numbers); }

static double settled(const game *rules, const state *now) {
    (void)rules, (void)now;
    return 0;
}
#endif

/* With more actions than this for each state that there may be, there is too much to solve, too. */
enum { ACTIONS_PER_STATE = 16 };

enum { SLIPS_TOO_MANY = -1, SLIPS_NO_MEMORY = -2, PARTS_PER_POINT = 1000000000, PERMILLE = 1000 };

/* Of a state: two hashes of 64 bits, which are as good as its numbers, and its margin to come. */
typedef struct {
    uint64_t first, second;
    int64_t margin;
} entry;

typedef struct {
    const game *rules;
    entry *entries;      /* a power of two of them, at most half full; first and second are 0 where there is none */
    uint64_t mask;
    int64_t count, most, actions;
    int32_t *numbers;
} margins;

static entry *entry_of(margins *all, const state *now) {
    uint64_t first = 1, second = 2;
    int count = pack_rest(all->rules, now, all->numbers);
    for (int k = 0; k < count; k++) {
        first = mixed(first + (uint64_t)(uint32_t)all->numbers[k]) + GOLDEN;
        second = mixed((second ^ (uint64_t)(uint32_t)all->numbers[k]) + 2 * GOLDEN) * 3;
    }
    first |= 1;
    uint64_t at = second & all->mask;
    while (all->entries[at].first && (all->entries[at].first != first || all->entries[at].second != second))
        at = (at + 1) & all->mask;
    entry *found = &all->entries[at];
    if (!found->first) {
        if (++all->count > all->most) return NULL;
        *found = (entry){first, second, INT64_MIN};
    }
    return found;
}

static int64_t parts_of(double margin) { return llround(margin * PARTS_PER_POINT); }

static int64_t margin_so_far(const game *rules, const state *now) { return parts_of(settled(rules, now)); }

static int64_t margin_at_end(const game *rules, const state *now) {
    double totals[MAX_PLAYERS] = {0};
    scores(rules, now, totals);
    return parts_of(totals[0] - totals[1]);
}

/* The margin still to come; writes 0 into *fits if there are too many states. */
static int64_t best_to_come(margins *all, state *now, int *fits) {
    int count = count_actions(all->rules, now);
    int64_t so_far = margin_so_far(all->rules, now);
    if (!count) return margin_at_end(all->rules, now) - so_far;
    entry *own = entry_of(all, now);
    if (!own) {
        *fits = 0;
        return 0;
    }
    if (own->margin != INT64_MIN) return own->margin;
    all->actions += count;
    if (all->actions > ACTIONS_PER_STATE * all->most) {
        *fits = 0;
        return 0;
    }
    int64_t best = INT64_MIN, toward = seat_to_act(all->rules, now) == 0 ? 1 : -1;
    undo back;
    for (int n = 0; n < count && *fits; n++) {
        make(all->rules, now, nth_action(all->rules, now, n), &back);
        int64_t after = toward * (margin_so_far(all->rules, now) + best_to_come(all, now, fits));
        unmake(all->rules, now, &back);
        best = after > best ? after : best;
    }
    return own->margin = toward * best - so_far;
}

/* The number of the action that a bot takes: with this rate of slips any, else one of the best. */
static int chosen(margins *all, state *now, int slips_permille, uint64_t *generator, int *fits) {
    int count = count_actions(all->rules, now), best_count = 0, chosen_best;
    if (random_below(generator, PERMILLE) < slips_permille) return random_below(generator, count);
    int64_t best = margin_so_far(all->rules, now) + best_to_come(all, now, fits);
    for (int pass = 0; pass < 2; pass++) {
        chosen_best = pass ? random_below(generator, best_count) : -1;
        for (int n = 0; n < count; n++) {
            undo back;
            make(all->rules, now, nth_action(all->rules, now, n), &back);
            int is_best = margin_so_far(all->rules, now) + best_to_come(all, now, fits) == best;
            unmake(all->rules, now, &back);
            best_count += is_best && !pass;
            if (is_best && pass && !chosen_best--) return n;
        }
    }
    return 0;
}

/* The result of a match for seat 0: 2, 1 or 0 half points. */
static int half_points(margins *all, const state *from, const int *slips_permille, uint64_t *generator, int *fits) {
    state now;
    undo back;
    copy_state(all->rules, &now, from);
    while (count_actions(all->rules, &now)) {
        int n = chosen(all, &now, slips_permille[seat_to_act(all->rules, &now)], generator, fits);
        make(all->rules, &now, nth_action(all->rules, &now, n), &back);
    }
    int64_t margin = margin_at_end(all->rules, &now);
    return 1 + (margin > 0) - (margin < 0);
}

/* Play encounters first, first + 1, … of a seed from the state, which stays, of a bot with the first rate of slips against
 * one with the second. Writes how many of them the first bot ends with 0 to 4 half points, and the margin of best play in
 * parts of a point. Returns how many states were looked at, or what prevents it. */
EXPORT int64_t slip_encounters(const handle *kernel, int64_t most_states, uint64_t seed, uint64_t first, int64_t count,
                               int32_t first_permille, int32_t second_permille, int64_t *counts, int64_t *margin) {
    const int of_first[2] = {first_permille, second_permille}, of_second[2] = {second_permille, first_permille};
    int32_t *numbers = malloc(MAX_PACKED * sizeof *numbers);
    margins all = {&kernel->rules, NULL, 1, 0, most_states, 0, numbers};
    int fits = 1;
    while (all.mask < 2 * (uint64_t)most_states) all.mask *= 2;
    all.entries = calloc(all.mask--, sizeof *all.entries);
    if (numbers && all.entries) {
        state now;
        copy_state(all.rules, &now, &kernel->now);
        *margin = margin_so_far(all.rules, &now) + best_to_come(&all, &now, &fits);
        for (int64_t k = 0; k < count && fits; k++) {
            uint64_t generator = generator_of(seed, first + (uint64_t)k);
            int points = half_points(&all, &kernel->now, of_first, &generator, &fits);
            counts[points + 2 - half_points(&all, &kernel->now, of_second, &generator, &fits)]++;
        }
    }
    int has_memory = numbers && all.entries;
    free(numbers);
    free(all.entries);
    return !has_memory ? SLIPS_NO_MEMORY : !fits ? SLIPS_TOO_MANY : all.count;
}
