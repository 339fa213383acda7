/* Multiplication; arena/games/multiplication.py has the rules, whose numbers are cited here. */
#include "permutation.h"

enum { MAX_PACKED = 2 * MAX_SIZE };

typedef struct {
    int32_t players, size, starter;
} game;

typedef struct {
    grid marks;
    int32_t numbered;               /* marks with a number; 0 in the marking */
    uint64_t unnumbered[GRID_WORDS];  /* the columns of the other marks, in the numbering */
    uint8_t order[MAX_SIZE];        /* the columns of the numbers 1, 2, … */
    int32_t totals[MAX_SIZE];       /* of each seat's jumps */
} state;

typedef struct {
    int32_t square;
} undo;

static int prepare(game *rules, const int32_t *options) {
    rules->players = options[0];
    rules->size = options[1];
    rules->starter = options[2];
    return rules->players <= MAX_PLAYERS && rules->size <= MAX_SIZE;
}

static void start(const game *rules, state *now) {
    clear_grid(&now->marks, rules->size);
    now->numbered = 0;
    memset(now->totals, 0, sizeof now->totals);
}

static void copy_state(const game *rules, state *to, const state *from) {
    memcpy(to, from, offsetof(state, totals));
    memcpy(to->totals, from->totals, (size_t)rules->players * sizeof *to->totals);
}

/* The seat that makes a jump, the first being number 0 (rule 4). */
static int seat_of_jump(const game *rules, int jump) { return (jump + rules->starter) % rules->players; }

/* Rules 2 and 4. */
static int seat_to_act(const game *rules, const state *now) {
    if (!now->numbered) return (rules->size - now->marks.empty) % rules->players;
    return now->numbered == rules->size ? -1 : seat_of_jump(rules, now->numbered - 1);
}

static int count_actions(const game *rules, const state *now) {
    return now->numbered ? rules->size - now->numbered : now->marks.empty * now->marks.empty;
}

static int nth_action(const game *rules, const state *now, int n) {
    if (!now->numbered) return nth_free_square(&now->marks, n);
    int column = nth_member(now->unnumbered, GRID_WORDS, n);
    return column * rules->size + now->marks.heights[column];
}

/* The jump to the last number, for the seat that wrote it (rule 5). */
static int last_jump(const state *now) {
    int to = now->order[now->numbered - 1], from = now->order[now->numbered - 2];
    return abs(to - from) * abs(now->marks.heights[to] - now->marks.heights[from]);
}

static void number(const game *rules, state *now, int column) {
    flip(now->unnumbered, column);
    now->order[now->numbered++] = (uint8_t)column;
    now->totals[seat_of_jump(rules, now->numbered - 2)] += last_jump(now);
}

/* Rule 4: the leftmost mark has the number 1. */
static void begin_numbering(const game *rules, state *now) {
    fill(now->unnumbered, GRID_WORDS, rules->size);
    flip(now->unnumbered, 0);
    now->order[0] = 0;
    now->numbered = 1;
}

static void make(const game *rules, state *now, int action, undo *back) {
    back->square = action;
    if (now->numbered) {
        number(rules, now, action / rules->size);
        return;
    }
    set_mark(&now->marks, action);
    if (!now->marks.empty) begin_numbering(rules, now);
}

static void unmake(const game *rules, state *now, const undo *back) {
    if (now->numbered > 1) {
        now->totals[seat_of_jump(rules, now->numbered - 2)] -= last_jump(now);
        now->numbered--;
        flip(now->unnumbered, back->square / rules->size);
        return;
    }
    now->numbered = 0;
    take_mark(&now->marks, back->square);
}

static void scores(const game *rules, const state *now, double *totals) {
    for (int seat = 0; seat < rules->players; seat++) totals[seat] = now->totals[seat];
}

static double uncertainty(const game *rules, const state *now, const double *totals) {
    (void)rules, (void)now, (void)totals;
    return 0;
}

/* The heights, then the columns, from 1, of the marks with a number. */
static int pack(const game *rules, const state *now, int32_t *numbers) {
    int count = pack_grid(&now->marks, numbers);
    (void)rules;
    for (int k = 0; k < now->numbered; k++) numbers[count++] = now->order[k] + 1;
    return count;
}

static void unpack(const game *rules, state *now, const int32_t *numbers, int count) {
    start(rules, now);
    unpack_grid(&now->marks, rules->size, numbers);
    if (count > rules->size) begin_numbering(rules, now);
    for (int k = rules->size + 1; k < count; k++) number(rules, now, numbers[k] - 1);
}

#include "batches.h"

static int play_batch(const game *rules, const state *from, const packed_grid *marks, batch *generators, batch *totals) {
    int numbered = from->numbered ? from->numbered : 1, here = from->numbered ? from->order[numbered - 1] : 0;
    uint64_t unnumbered = from->numbered ? list_of(from->unnumbered[0]) : 0x0FEDCBA987654321u;   /* all but 0 */
    full_grids all = fill_grids(marks, generators);
    batch columns = ZEROS + unnumbered, column = ZEROS + (uint64_t)here;
    batch height = item_at(all.heights, column);
    for (int seat = 0; seat < rules->players; seat++) totals[seat] = ZEROS + (uint64_t)from->totals[seat];
    for (int k = numbered; k < rules->size; k++) {
        batch next = take_item(&columns, random_batch_below(generators, (uint64_t)(rules->size - k)));
        batch next_height = item_at(all.heights, next);
        totals[seat_of_jump(rules, k - 1)] += small_product(distance(next, column), distance(next_height, height));
        column = next;
        height = next_height;
    }
    return from->marks.empty + rules->size - numbered;
}

#include "exports.h"

/* The margin to come depends on which marks have a number and on the last one, not on their order. */
#define HAS_SETTLED

static int pack_rest(const game *rules, const state *now, int32_t *numbers) {
    int count = pack_grid(&now->marks, numbers);
    (void)rules;
    if (!now->numbered) return count;
    for (int word = 0; word < GRID_WORDS; word++) {
        numbers[count++] = (int32_t)(now->unnumbered[word] & 0xFFFFFFFFu);
        numbers[count++] = (int32_t)(now->unnumbered[word] >> 32);
    }
    numbers[count++] = now->order[now->numbered - 1] + 1;
    return count;
}

static double settled(const game *rules, const state *now) {
    (void)rules;
    return now->totals[0] - now->totals[1];
}

#include "slips.h"
#include "solve_multiplication.h"
#include "share_multiplication.h"
#include "solve_exports.h"
