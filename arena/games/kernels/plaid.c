/* Plaid; arena/games/plaid.py has the rules, whose numbers are cited here. Lines are numbered from 0: the upright ones
 * from the left, then the level ones from the bottom. */
#include "common.h"

enum { MAX_SIDE = 1000, MAX_LINES = 2 * (MAX_SIDE - 1), WORDS = 32, MAX_PACKED = MAX_LINES };

typedef struct {
    int32_t players, width, height;
    int32_t lines;      /* before the match may end (rule 3) */
    int32_t existing;   /* all lines of the sheet */
    int32_t words;      /* in use in the sets of lines */
} game;

typedef struct {
    int32_t upright, level;    /* lines that are drawn */
    uint64_t undrawn[WORDS];
} state;

typedef struct {
    int32_t line;
} undo;

static int prepare(game *rules, const int32_t *options) {
    rules->players = options[0];
    rules->width = options[1];
    rules->height = options[2];
    rules->lines = options[3];
    rules->existing = rules->width + rules->height - 2;
    rules->words = rules->existing / 64 + 1;
    return rules->players <= MAX_PLAYERS && rules->width <= MAX_SIDE && rules->height <= MAX_SIDE;
}

static void start(const game *rules, state *now) {
    now->upright = now->level = 0;
    fill(now->undrawn, rules->words, rules->existing);
}

static void copy_state(const game *rules, state *to, const state *from) {
    memcpy(to, from, offsetof(state, undrawn) + (size_t)rules->words * sizeof(uint64_t));
}

/* Rules 1 and 3. */
static int seat_to_act(const game *rules, const state *now) {
    int standing = now->upright + now->level;
    if (standing >= rules->lines && (now->upright + 1) * (now->level + 1) % rules->players == 0) return -1;
    return standing % rules->players;
}

static int count_actions(const game *rules, const state *now) {
    return seat_to_act(rules, now) < 0 ? 0 : rules->existing - now->upright - now->level;
}

static int nth_action(const game *rules, const state *now, int n) {
    return nth_member(now->undrawn, rules->words, n);
}

static void make(const game *rules, state *now, int action, undo *back) {
    back->line = action;
    flip(now->undrawn, action);
    now->upright += action < rules->width - 1;
    now->level += action >= rules->width - 1;
}

static void unmake(const game *rules, state *now, const undo *back) {
    flip(now->undrawn, back->line);
    now->upright -= back->line < rules->width - 1;
    now->level -= back->line >= rules->width - 1;
}

/* The squares of the distances between neighbouring lines from first to first + side - 2, edges included. */
static int squared_gaps(const state *now, int first, int side, double *gaps) {
    int count = 0, previous = 0;
    for (int place = 1; place < side;) {
        int line = first + place - 1, width = 64 - (line & 63);
        uint64_t drawn = ~now->undrawn[line >> 6] >> (line & 63);
        int skipped = drawn ? __builtin_ctzll(drawn) : width;
        place += skipped < width ? skipped : width;
        if (skipped >= width || place >= side) continue;
        gaps[count++] = (double)((place - previous) * (place - previous));
        previous = place++;
    }
    gaps[count++] = (double)((side - previous) * (side - previous));
    return count;
}

/* Rule 5. The sums are rounded: see uncertainty. */
static void scores(const game *rules, const state *now, double *totals) {
    double widths[MAX_SIDE], heights[MAX_SIDE], diagonals[MAX_SIDE];
    int columns = squared_gaps(now, 0, rules->width, widths);
    int rows = squared_gaps(now, rules->width - 1, rules->height, heights);
    int seat = 0;
    for (int other = 0; other < rules->players; other++) totals[other] = 0;
    for (int row = rows - 1; row >= 0; row--) {
        for (int column = 0; column < columns; column++) diagonals[column] = sqrt(widths[column] + heights[row]);
        for (int first = 0; first < rules->players && first < columns; first++) {
            double sum = 0;
            for (int column = first; column < columns; column += rules->players) sum += diagonals[column];
            totals[seat] += sum;
            seat = seat + 1 == rules->players ? 0 : seat + 1;
        }
        if (columns > rules->players) seat = (seat + columns - rules->players) % rules->players;
    }
}

/* Rule 6: 1e-9, or what adding the rectangles' rounded roots may be wrong by where that is more. */
static double uncertainty(const game *rules, const state *now, const double *totals) {
    double sum = 0;
    for (int seat = 0; seat < rules->players; seat++) sum += totals[seat];
    return fmax(1e-9, sum * (now->upright + 1) * (now->level + 1) * 0x1p-52);
}

/* The lines that are drawn, from 0, in ascending order. */
static int pack(const game *rules, const state *now, int32_t *numbers) {
    int count = 0;
    for (int line = 0; line < rules->existing; line++)
        if (!has(now->undrawn, line)) numbers[count++] = line;
    return count;
}

static void unpack(const game *rules, state *now, const int32_t *numbers, int count) {
    undo back;
    start(rules, now);
    for (int k = 0; k < count; k++) make(rules, now, numbers[k], &back);
}

#include "exports.h"
#include "slips.h"
#include "solve_plaid.h"
#include "solve_exports.h"
