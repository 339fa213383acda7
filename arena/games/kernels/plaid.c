/* Plaid; arena/games/plaid.py has the rules, whose numbers are cited here. Lines are numbered from 0: the upright ones
 * from the left, then the level ones from the bottom. */
#include "common.h"

enum { MAX_SMALL = 64 };   /* roots of so many diagonals stay in the processor's first cache */
enum { MAX_SIDE = 1000, MAX_LINES = 2 * (MAX_SIDE - 1), WORDS = 32, MAX_PACKED = MAX_LINES };

typedef struct {
    int32_t players, width, height;
    int32_t lines;      /* before the match may end (rule 3) */
    int32_t existing;   /* all lines of the sheet */
    int32_t words;      /* in use in the sets of lines */
    int32_t is_small;   /* no side is longer than MAX_SMALL */
    double diagonals[MAX_SMALL + 1][MAX_SMALL + 1];   /* on small sheets, by height and width */
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
    rules->is_small = rules->width <= MAX_SMALL && rules->height <= MAX_SMALL;
    for (int height = 1; rules->is_small && height <= rules->height; height++)
        for (int width = 0; width <= rules->width; width++)
            rules->diagonals[height][width] = width ? sqrt(width * width + height * height) : 0;
    return rules->players <= MAX_PLAYERS && rules->width <= MAX_SIDE && rules->height <= MAX_SIDE;
}

static void start(const game *rules, state *now) {
    now->upright = now->level = 0;
    fill(now->undrawn, rules->words, rules->existing);
}

static void copy_state(const game *rules, state *to, const state *from) {
    memcpy(to, from, offsetof(state, undrawn) + (size_t)rules->words * sizeof(uint64_t));
}

/* Rule 3. */
static int is_over(const game *rules, const state *now) {
    return now->upright + now->level >= rules->lines && (now->upright + 1) * (now->level + 1) % rules->players == 0;
}

/* Rule 1. */
static int seat_to_act(const game *rules, const state *now) {
    return is_over(rules, now) ? -1 : (now->upright + now->level) % rules->players;
}

static int count_actions(const game *rules, const state *now) {
    return is_over(rules, now) ? 0 : rules->existing - now->upright - now->level;
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

/* The distances between neighbouring lines, edges included. */
typedef struct {
    int columns, rows, widths[MAX_SIDE], heights[MAX_SIDE];
} gaps;

/* The gaps of the lines from first to first + side - 2. */
static inline int find_gaps(const uint64_t *undrawn, int first, int side, int *found) {
    int count = 0, previous = first - 1, end = first + side - 1;
    for (int word = first >> 6; 64 * word < end; word++) {
        uint64_t drawn = ~undrawn[word];
        if (64 * word < first) drawn &= ~(uint64_t)0 << (first & 63);
        if (64 * word + 64 > end) drawn &= ((uint64_t)1 << (end & 63)) - 1;
        for (; drawn; drawn &= drawn - 1) {
            int line = 64 * word + __builtin_ctzll(drawn);
            found[count++] = line - previous;
            previous = line;
        }
    }
    found[count++] = end - previous;
    return count;
}

static inline void find_all_gaps(const game *rules, const uint64_t *undrawn, gaps *found) {
    found->columns = find_gaps(undrawn, 0, rules->width, found->widths);
    found->rows = find_gaps(undrawn, rules->width - 1, rules->height, found->heights);
}

/* Rule 5. The sums are rounded: see uncertainty. */
static void scores(const game *rules, const state *now, double *totals) {
    double diagonals[MAX_SIDE];
    int seat = 0;
    gaps all;
    find_all_gaps(rules, now->undrawn, &all);
    for (int other = 0; other < rules->players; other++) totals[other] = 0;
    for (int row = all.rows - 1; row >= 0; row--) {
        for (int column = 0; column < all.columns; column++)
            diagonals[column] = sqrt(all.widths[column] * all.widths[column] + all.heights[row] * all.heights[row]);
        for (int first = 0; first < rules->players && first < all.columns; first++) {
            double sum = 0;
            for (int column = first; column < all.columns; column += rules->players) sum += diagonals[column];
            totals[seat] += sum;
            seat = seat + 1 == rules->players ? 0 : seat + 1;
        }
        if (all.columns > rules->players) seat = (seat + all.columns - rules->players) % rules->players;
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

#include "play_plaid.h"
#include "exports.h"
#include "slips.h"
#include "solve_plaid.h"
#include "solve_exports.h"
