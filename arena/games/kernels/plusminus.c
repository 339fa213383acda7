/* Plusminus; arena/games/plusminus.py has the rules, whose numbers are cited here. */
#include "permutation.h"

enum { MAX_PACKED = 3 * MAX_SIZE, SIGNS = 2 };

typedef struct {
    int32_t players, size;
    int32_t first;  /* the seat that starts the grid (rule 2) */
} game;

typedef struct {
    grid marks;
    int32_t signs;                   /* predicted so far, by both seats */
    uint64_t minus[2][GRID_WORDS];   /* where a seat's list has "-" */
} state;

typedef struct {
    int32_t action;
} undo;

static int prepare(game *rules, const int32_t *options) {
    rules->players = 2;
    rules->size = options[0];
    rules->first = options[1];
    return rules->size <= MAX_SIZE;
}

static void start(const game *rules, state *now) {
    clear_grid(&now->marks, rules->size);
    now->signs = 0;
    memset(now->minus, 0, sizeof now->minus);
}

static void copy_state(const game *rules, state *to, const state *from) {
    (void)rules;
    *to = *from;
}

/* Rule 1. */
static int is_predicting(const game *rules, const state *now) { return now->signs < 2 * (rules->size - 1); }

/* Rules 1 to 3. */
static int seat_to_act(const game *rules, const state *now) {
    if (is_predicting(rules, now)) return now->signs % 2;
    return now->marks.empty ? (rules->first + rules->size - now->marks.empty) % 2 : -1;
}

static int count_actions(const game *rules, const state *now) {
    return is_predicting(rules, now) ? SIGNS : now->marks.empty * now->marks.empty;
}

static int nth_action(const game *rules, const state *now, int n) {
    return is_predicting(rules, now) ? n : SIGNS + nth_free_square(&now->marks, n);
}

/* Set the next sign, or take it back. There is no branch on it, which nothing could predict. */
static void set_sign(state *now, int is_minus) {
    int place = now->signs / 2;
    now->minus[now->signs % 2][place >> 6] ^= (uint64_t)is_minus << (place & 63);
}

/* The action 0 is "+", 1 is "-", and squares come after them. */
static void make(const game *rules, state *now, int action, undo *back) {
    (void)rules;
    back->action = action;
    if (action >= SIGNS) {
        set_mark(&now->marks, action - SIGNS);
        return;
    }
    set_sign(now, action);
    now->signs++;
}

static void unmake(const game *rules, state *now, const undo *back) {
    (void)rules;
    if (back->action >= SIGNS) {
        take_mark(&now->marks, back->action - SIGNS);
        return;
    }
    now->signs--;
    set_sign(now, back->action);
}

/* How many signs a seat has predicted: seat 0 begins. */
static int signs_of(const state *now, int seat) { return (now->signs + 1 - seat) / 2; }

/* Rule 4 for one list. */
static int score(const state *now, int seat, const uint64_t *empty, const uint8_t *list) {
    int total = 0;
    for (int k = 0; k < signs_of(now, seat); k++)
        total += both_marked(empty, k) & ((list[k + 1] < list[k]) == has(now->minus[seat], k));
    return total;
}

static void scores(const game *rules, const state *now, double *totals) {
    (void)rules;
    totals[0] = score(now, 0, now->marks.columns, now->marks.heights);
    totals[1] = score(now, 1, now->marks.rows, now->marks.places);
}

static double uncertainty(const game *rules, const state *now, const double *totals) {
    (void)rules, (void)now, (void)totals;
    return 0;
}

/* Each seat's list, filled up with 0: 1 is "+", 2 is "-"; then the heights. */
static int pack(const game *rules, const state *now, int32_t *numbers) {
    int count = 0;
    for (int seat = 0; seat < 2; seat++)
        for (int k = 0; k < rules->size - 1; k++)
            numbers[count++] = k < signs_of(now, seat) ? 1 + has(now->minus[seat], k) : 0;
    return count + pack_grid(&now->marks, numbers + count);
}

static void unpack(const game *rules, state *now, const int32_t *numbers, int count) {
    (void)count;
    start(rules, now);
    for (int seat = 0; seat < 2; seat++) {
        for (int k = 0; k < rules->size - 1; k++, numbers++) {
            now->signs += *numbers > 0;
            if (*numbers == 2) flip(now->minus[seat], k);
        }
    }
    unpack_grid(&now->marks, rules->size, numbers);
}

#include "batches.h"

static batch scores_of_lists(const game *rules, batch list, batch minus) {
    batch wrong = minus;
    for (int k = 0; k < rules->size - 1; k++)
        wrong ^= ((list >> (4 * k + 4) & 15) - (list >> (4 * k) & 15)) >> 63 << k;   /* whether the step is down */
    return (uint64_t)(rules->size - 1) - ones_in(wrong);
}

static int play_batch(const game *rules, const state *from, const packed_grid *marks, batch *generators, batch *totals) {
    batch minus[2] = {ZEROS + from->minus[0][0], ZEROS + from->minus[1][0]};
    int signs = from->signs, all_signs = 2 * (rules->size - 1);
    for (; signs < all_signs; signs++) minus[signs % 2] |= random_bits(generators) >> 63 << (signs / 2);
    full_grids all = fill_grids(marks, generators);
    totals[0] = scores_of_lists(rules, all.heights, minus[0]);
    totals[1] = scores_of_lists(rules, all.places, minus[1]);
    return all_signs - from->signs + from->marks.empty;
}

#include "exports.h"
#include "slips.h"
#include "solve_plusminus.h"
#include "share_none.h"
#include "solve_exports.h"
