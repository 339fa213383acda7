/* Differences; arena/games/differences.py has the rules, whose numbers are cited here. */
#include "permutation.h"

enum { MAX_PACKED = MAX_SIZE };

typedef struct {
    int32_t players, size;
    int32_t once;  /* scoring = "once" (rule 5) */
} game;

typedef struct {
    grid marks;
} state;

typedef struct {
    int32_t square;
} undo;

static int prepare(game *rules, const int32_t *options) {
    rules->players = 2;
    rules->size = options[0];
    rules->once = options[1];
    return rules->size <= MAX_SIZE;
}

static void start(const game *rules, state *now) { clear_grid(&now->marks, rules->size); }

static void copy_state(const game *rules, state *to, const state *from) {
    (void)rules;
    *to = *from;
}

/* Rules 2 and 3. */
static int seat_to_act(const game *rules, const state *now) {
    return now->marks.empty ? (rules->size - now->marks.empty) % 2 : -1;
}

static int count_actions(const game *rules, const state *now) {
    (void)rules;
    return now->marks.empty * now->marks.empty;
}

static int nth_action(const game *rules, const state *now, int n) {
    (void)rules;
    return nth_free_square(&now->marks, n);
}

static void make(const game *rules, state *now, int action, undo *back) {
    (void)rules;
    back->square = action;
    set_mark(&now->marks, action);
}

static void unmake(const game *rules, state *now, const undo *back) {
    (void)rules;
    take_mark(&now->marks, back->square);
}

/* Rules 4 and 5 for one list: which lengths appear, and which appear again. */
static double score(const game *rules, const uint64_t *empty, const uint8_t *list) {
    uint64_t seen[GRID_WORDS] = {0, 0}, again[GRID_WORDS] = {0, 0};
    for (int k = 0; k < rules->size - 1; k++) {
        if (!both_marked(empty, k)) continue;
        int length = abs(list[k + 1] - list[k]), word = length >> 6;
        uint64_t bit = (uint64_t)1 << (length & 63);
        again[word] |= seen[word] & bit;
        seen[word] |= bit;
    }
    int total = 0;
    for (int word = 0; word < GRID_WORDS; word++)
        total += __builtin_popcountll(rules->once ? seen[word] & ~again[word] : seen[word]);
    return total;
}

static void scores(const game *rules, const state *now, double *totals) {
    totals[0] = score(rules, now->marks.columns, now->marks.heights);
    totals[1] = score(rules, now->marks.rows, now->marks.places);
}

static double uncertainty(const game *rules, const state *now, const double *totals) {
    (void)rules, (void)now, (void)totals;
    return 0;
}

static int pack(const game *rules, const state *now, int32_t *numbers) {
    (void)rules;
    return pack_grid(&now->marks, numbers);
}

static void unpack(const game *rules, state *now, const int32_t *numbers, int count) {
    (void)count;
    unpack_grid(&now->marks, rules->size, numbers);
}

#include "batches.h"

static batch scores_of_lists(const game *rules, batch list) {
    batch seen = ZEROS, again = ZEROS;
    for (int k = 0; k < rules->size - 1; k++) {
        batch bit = (ZEROS + 1) << distance(list >> (4 * k) & 15, list >> (4 * k + 4) & 15);
        again |= seen & bit;
        seen |= bit;
    }
    return ones_in(rules->once ? seen & ~again : seen);
}

static int play_batch(const game *rules, const state *from, const packed_grid *marks, batch *generators, batch *totals) {
    full_grids all = fill_grids(marks, generators);
    totals[0] = scores_of_lists(rules, all.heights);
    totals[1] = scores_of_lists(rules, all.places);
    return from->marks.empty;
}

#include "exports.h"
#include "slips.h"
#include "solve_differences.h"
#include "share_none.h"
#include "solve_exports.h"
