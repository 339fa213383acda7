/* Solves plaid for two on small sheets: values of all sets of lines, from the largest that can be reached back to none.
 *
 * The sets of so many lines are numbered in numerical order: the number of one is the sum over its lines, in ascending
 * order, of how many sets of as many lines there are below each. Two levels are in memory at a time.
 */
#include "solving.h"

enum { MAX_SHEET = 40, MAX_SQUARED = 2 * (MAX_SHEET + 1) * (MAX_SHEET + 1) };

#ifndef NEAR_TIE
#define NEAR_TIE 1e-9   /* scores that differ by no more are compared exactly; a test sets more */
#endif

static const double PARTS = 1e9;                      /* of a point, in a margin */
static const int64_t OUTCOME = (int64_t)1 << 61;      /* is worth more than any margin */

typedef struct {
    const game *rules;
    job *found;
    int64_t choose[MAX_SHEET + 1][MAX_SHEET + 2];
    double diagonals[MAX_SHEET + 1][MAX_SHEET + 1];
    int32_t squarefree[MAX_SQUARED], factor[MAX_SQUARED];   /* number = squarefree * factor² */
} sheet;

static int has_ended(const game *rules, int upright, int level) {
    return upright + level >= rules->lines && (upright + 1) * (level + 1) % 2 == 0;
}

/* The most lines that can stand: with an odd number of them, the number of rectangles is even (rule 3). */
static int most_lines(const game *rules) {
    int most = rules->lines % 2 ? rules->lines : rules->lines + 1;
    return most < rules->existing ? most : rules->existing;
}

static double sets_of(int lines, int members) {
    double count = 1;
    for (int k = 0; k < members; k++) count = count * (lines - k) / (k + 1);
    return count;
}

/* The values of the two largest levels that take turns in memory. */
static double values_kept(const game *rules) {
    double most[2] = {0, 0};
    for (int members = 0; members <= most_lines(rules); members++)
        most[members % 2] = fmax(most[members % 2], sets_of(rules->existing, members));
    return most[0] + most[1];
}

static int solvable(const game *rules) {
    return rules->players == 2 && rules->existing <= MAX_SHEET && values_kept(rules) < 1e12;
}

static int64_t solver_bytes(const game *rules) {
    return (int64_t)values_kept(rules) * (int64_t)sizeof(int64_t) + (int64_t)sizeof(sheet);
}

static int64_t solver_states(const game *rules) {
    double total = 0;
    for (int members = 0; members <= most_lines(rules); members++) total += sets_of(rules->existing, members);
    return (int64_t)total;
}

/* The gaps between neighbouring lines of a set, edges included, from left to right or from the bottom up. */
static int gaps_of(uint64_t lines, int side, int *gaps) {
    int count = 0, previous = 0;
    for (; lines; lines &= lines - 1) {
        int place = __builtin_ctzll(lines) + 1;
        gaps[count++] = place - previous;
        previous = place;
    }
    gaps[count++] = side - previous;
    return count;
}

/* Whether the two seats' sums of roots are equal: each is a sum of factors times roots of squarefree numbers, which are
 * linearly independent (arena/games/surds.py). */
static int is_tie(const sheet *all, const int *widths, int columns, const int *heights, int rows) {
    int32_t sums[MAX_SQUARED] = {0}, sign = 1;
    for (int row = rows - 1; row >= 0; row--) {
        for (int column = 0; column < columns; column++, sign = -sign) {
            int squared = widths[column] * widths[column] + heights[row] * heights[row];
            sums[all->squarefree[squared]] += sign * all->factor[squared];
        }
    }
    for (int number = 0; number < MAX_SQUARED; number++)
        if (sums[number]) return 0;
    return 1;
}

/* The value of a sheet that has ended (rule 5): the rectangles of the two seats take turns. */
static int64_t value_of_end(const sheet *all, uint64_t lines) {
    const game *rules = all->rules;
    int widths[MAX_SHEET + 1], heights[MAX_SHEET + 1];
    int columns = gaps_of(lines & (((uint64_t)1 << (rules->width - 1)) - 1), rules->width, widths);
    int rows = gaps_of(lines >> (rules->width - 1), rules->height, heights);
    double margin = 0, total = 0, sign = 1;
    for (int row = rows - 1; row >= 0; row--) {
        for (int column = 0; column < columns; column++, sign = -sign) {
            double diagonal = all->diagonals[heights[row]][widths[column]];
            margin += sign * diagonal;
            total += diagonal;
        }
    }
    int64_t parts = llround(margin * PARTS);
    if (fabs(margin) > fmax(NEAR_TIE, total * rows * columns * 0x1p-52)) return sign_of(parts) * OUTCOME + parts;
    if (is_tie(all, widths, columns, heights, rows)) return 0;
    int32_t packed[MAX_SHEET], count = 0;
    for (uint64_t rest = lines; rest; rest &= rest - 1) packed[count++] = __builtin_ctzll(rest);
    return all->found->decide(packed, count) * OUTCOME + parts;
}

/* The best of the values after each line that can be drawn. Lines above the new one move up by a place in their set. */
static int64_t best_after(const sheet *all, uint64_t lines, int members, int seat, const int64_t *after) {
    int64_t best = seat == 0 ? INT64_MIN : INT64_MAX, below = 0, above = 0;
    int place = 0;
    for (uint64_t rest = lines; rest; rest &= rest - 1) above += all->choose[__builtin_ctzll(rest)][++place + 1];
    place = 0;
    for (int line = 0; line < all->rules->existing; line++) {
        if (lines >> line & 1) {
            place++;
            above -= all->choose[line][place + 1];
            below += all->choose[line][place];
            continue;
        }
        int64_t found = after[below + all->choose[line][place + 1] + above];
        best = (seat == 0 ? found > best : found < best) ? found : best;
    }
    all->found->edges += all->rules->existing - members;
    return best;
}

static uint64_t next_set(uint64_t set) {
    uint64_t lowest = set & -set, ripple = set + lowest;
    return ripple | ((set ^ ripple) >> 2) / lowest;
}

/* Fill the level of so many lines from the next one. */
static int fill_level(const sheet *all, int members, int64_t *before, const int64_t *after) {
    const game *rules = all->rules;
    int64_t count = all->choose[rules->existing][members];
    uint64_t set = ((uint64_t)1 << members) - 1, uprights = ((uint64_t)1 << (rules->width - 1)) - 1;
    int is_largest = members == most_lines(rules);
    for (int64_t number = 0; number < count; number++) {
        if ((number & 0xFFFF) == 0 && *all->found->stop) return STOPPED;
        int upright = __builtin_popcountll(set & uprights);
        if (has_ended(rules, upright, members - upright)) before[number] = value_of_end(all, set);
        else before[number] = is_largest ? 0 : best_after(all, set, members, members % 2, after);
        if (number + 1 < count) set = next_set(set);
    }
    all->found->states += count;
    return SOLVED;
}

static void prepare_sheet(sheet *all, const game *rules, job *found) {
    memset(all, 0, sizeof *all);
    all->rules = rules;
    all->found = found;
    for (int lines = 0; lines <= MAX_SHEET; lines++) {
        all->choose[lines][0] = 1;
        for (int k = 1; k <= lines; k++) all->choose[lines][k] = all->choose[lines - 1][k - 1] + all->choose[lines - 1][k];
    }
    for (int high = 0; high <= MAX_SHEET; high++)
        for (int wide = 0; wide <= MAX_SHEET; wide++) all->diagonals[high][wide] = sqrt(high * high + wide * wide);
    for (int number = 0; number < MAX_SQUARED; number++) all->squarefree[number] = number, all->factor[number] = 1;
    for (int root = 2; root * root < MAX_SQUARED; root++)
        for (int number = root * root; number < MAX_SQUARED; number += root * root)
            all->squarefree[number] = number / (root * root), all->factor[number] = root;
}

static int solve_levels(const sheet *all, int64_t *levels[2], job *found) {
    for (int members = most_lines(all->rules); members >= 0; members--) {
        int code = fill_level(all, members, levels[members % 2], levels[(members + 1) % 2]);
        if (code != SOLVED) return code;
    }
    int64_t first = levels[0][0];
    found->outcome = sign_of(first) * (llabs(first) > OUTCOME / 2);
    found->margin = first - found->outcome * OUTCOME;
    for (int line = 0; line < all->rules->existing; line++) found->best[line] = levels[1][line] == first;
    return SOLVED;
}

static int solve(const game *rules, job *found) {
    sheet *all = malloc(sizeof *all);
    int64_t *levels[2] = {NULL, NULL};
    int code = NO_MEMORY;
    if (all) {
        prepare_sheet(all, rules, found);
        for (int odd = 0; odd < 2; odd++) {
            int64_t most = 0;
            for (int members = odd; members <= most_lines(rules); members += 2)
                most = all->choose[rules->existing][members] > most ? all->choose[rules->existing][members] : most;
            levels[odd] = malloc((size_t)(most + 1) * sizeof(int64_t));
        }
        if (levels[0] && levels[1]) code = solve_levels(all, levels, found);
    }
    free(levels[0]);
    free(levels[1]);
    free(all);
    return code;
}
