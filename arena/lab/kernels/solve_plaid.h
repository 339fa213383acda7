/* Solves plaid for two on small sheets, and the last lines on large ones: values of all sets of lines that can still be
 * drawn, from the largest that can be reached back to none.
 *
 * The lines that are not drawn in the first state, the root, are counted from 0. The sets of so many of them are numbered
 * in numerical order: the number of one is the sum over its lines, in ascending order, of how many sets of as many lines
 * there are below each.
 */
#include "solving.h"

#ifndef NEAR_TIE
#define NEAR_TIE 1e-9   /* scores that differ by no more are compared exactly; a test sets more */
#endif

static const double PARTS = 1e9;                      /* of a point, in a margin */
static const int64_t OUTCOME = (int64_t)1 << 61;      /* is worth more than any margin */
static const double MOST_SETS = 1e12;

typedef struct {
    const game *rules;
    job *found;
    int lines[MAX_LINES], free;           /* those that are not drawn in the root, and how many */
    int most;                             /* lines that can be drawn from there */
    int drawn[MAX_LINES], in_root;        /* those of the root, and how many */
    int64_t *choose;                      /* (lines, members) at lines * (most + 2) + members */
    double *diagonals;                    /* (height, width) at height * (width of the sheet + 1) + width */
    int32_t *squarefree, *factor, *sums;  /* of a number: number = squarefree * factor²; the sums are all 0 */
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

/* All sets of at most so many lines. */
static double sets_up_to(int lines, int most) {
    double total = 0;
    for (int members = 0; members <= most; members++) total += sets_of(lines, members);
    return total;
}

/* The values of the two largest levels that take turns in memory. */
static double values_kept(const game *rules) {
    double most[2] = {0, 0};
    for (int members = 0; members <= most_lines(rules); members++)
        most[members % 2] = fmax(most[members % 2], sets_of(rules->existing, members));
    return most[0] + most[1];
}

/* The squares that a diagonal can have, and 0. */
static int64_t squares_of(const game *rules) {
    return (int64_t)rules->width * rules->width + (int64_t)rules->height * rules->height + 1;
}

static int64_t sheet_bytes(const game *rules, int free_lines, int most) {
    int64_t sets = (int64_t)(free_lines + 1) * (most + 2), gaps = (int64_t)(rules->width + 1) * (rules->height + 1);
    return 8 * (sets + gaps) + 12 * squares_of(rules) + (int64_t)sizeof(sheet);
}

static int solvable(const game *rules) { return rules->players == 2 && values_kept(rules) < MOST_SETS; }

static int64_t solver_bytes(const game *rules) {
    return (int64_t)values_kept(rules) * (int64_t)sizeof(int64_t) +
           sheet_bytes(rules, rules->existing, most_lines(rules));
}

static int64_t solver_states(const game *rules) { return (int64_t)sets_up_to(rules->existing, most_lines(rules)); }

static int64_t choose(const sheet *all, int lines, int members) { return all->choose[lines * (all->most + 2) + members]; }

/* The gaps between neighbouring lines, of those from first to first + side - 2, edges included. Returns how many. */
static int gaps_of(const int *lines, int count, int first, int side, int *gaps) {
    int found = 0, previous = 0;
    for (int k = 0; k < count; k++) {
        int place = lines[k] - first + 1;
        gaps[found++] = place - previous;
        previous = place;
    }
    gaps[found++] = side - previous;
    return found;
}

/* Whether the two seats' sums of roots are equal: each is a sum of factors times roots of squarefree numbers, which are
 * linearly independent (arena/games/surds.py). */
static int is_tie(const sheet *all, const int *widths, int columns, const int *heights, int rows) {
    int differ = 0;
    for (int pass = 0, sign; pass < 2; pass++) {  /* the second one makes the sums 0 again */
        sign = pass ? -1 : 1;
        for (int row = rows - 1; row >= 0; row--) {
            for (int column = 0; column < columns; column++, sign = -sign) {
                int squared = widths[column] * widths[column] + heights[row] * heights[row];
                int32_t *sum = &all->sums[all->squarefree[squared]], before = *sum;
                *sum += sign * all->factor[squared];
                if (pass == 0) differ += (*sum != 0) - (before != 0);
            }
        }
    }
    return differ == 0;
}

/* The value of a sheet that has ended (rule 5): the rectangles of the two seats take turns. */
static int64_t value_of_end(const sheet *all, const int *lines, int upright, int level) {
    const game *rules = all->rules;
    int widths[MAX_SIDE], heights[MAX_SIDE];
    int columns = gaps_of(lines, upright, 0, rules->width, widths);
    int rows = gaps_of(lines + upright, level, rules->width - 1, rules->height, heights);
    double margin = 0, total = 0, sign = 1;
    for (int row = rows - 1; row >= 0; row--) {
        const double *of_row = all->diagonals + heights[row] * (rules->width + 1);
        for (int column = 0; column < columns; column++, sign = -sign) {
            margin += sign * of_row[widths[column]];
            total += of_row[widths[column]];
        }
    }
    int64_t parts = llround(margin * PARTS);
    if (fabs(margin) > fmax(NEAR_TIE, total * rows * columns * 0x1p-52)) return sign_of(parts) * OUTCOME + parts;
    if (is_tie(all, widths, columns, heights, rows)) return 0;
    return all->found->decide(lines, upright + level) * OUTCOME + parts;
}

/* The lines of the root and of a set, in ascending order; returns how many of them are upright. */
static int merge_lines(const sheet *all, const int *set, int members, int *lines) {
    int upright = 0, of_root = 0, of_set = 0;
    for (int k = 0; k < all->in_root + members; k++) {
        int is_of_set = of_root == all->in_root || (of_set < members && all->lines[set[of_set]] < all->drawn[of_root]);
        lines[k] = is_of_set ? all->lines[set[of_set++]] : all->drawn[of_root++];
        upright += lines[k] < all->rules->width - 1;
    }
    return upright;
}

/* The best of the values after each line that can be drawn. Lines above the new one move up by a place in their set. */
static int64_t best_after(const sheet *all, const int *set, int members, const int64_t *after) {
    int seat = (all->in_root + members) % 2, place = 0;
    int64_t best = seat == 0 ? INT64_MIN : INT64_MAX, below = 0, above = 0;
    for (int k = 0; k < members; k++) above += choose(all, set[k], k + 2);
    for (int line = 0; line < all->free; line++) {
        if (place < members && set[place] == line) {
            place++;
            above -= choose(all, line, place + 1);
            below += choose(all, line, place);
            continue;
        }
        int64_t found = after[below + choose(all, line, place + 1) + above];
        best = (seat == 0 ? found > best : found < best) ? found : best;
    }
    all->found->edges += all->free - members;
    return best;
}

/* The next set of as many members, in ascending order. */
static void next_set(int *set, int members) {
    int k = 0;
    for (; k + 1 < members && set[k] + 1 == set[k + 1]; k++) set[k] = k;
    set[k]++;
}

/* Fill the level of so many lines more than the root has from the next one. */
static int fill_level(const sheet *all, int members, int64_t *before, const int64_t *after) {
    int64_t count = choose(all, all->free, members);
    int set[MAX_LINES + 1], lines[MAX_LINES];
    for (int k = 0; k < members; k++) set[k] = k;
    for (int64_t number = 0; number < count; number++) {
        if ((number & 0xFFFF) == 0 && *all->found->stop) return STOPPED;
        int upright = merge_lines(all, set, members, lines), level = all->in_root + members - upright;
        if (has_ended(all->rules, upright, level)) before[number] = value_of_end(all, lines, upright, level);
        else before[number] = members == all->most ? 0 : best_after(all, set, members, after);
        next_set(set, members);
    }
    all->found->states += count;
    return SOLVED;
}

static void fill_sheet(sheet *all) {
    const game *rules = all->rules;
    int row = all->most + 2;
    for (int lines = 0; lines <= all->free; lines++)
        for (int k = 0; k < row; k++) {
            int64_t *found = &all->choose[lines * row + k];
            *found = k == 0 ? 1 : lines == 0 ? 0 : found[-row] + found[-row - 1];
        }
    for (int high = 0; high <= rules->height; high++)
        for (int wide = 0; wide <= rules->width; wide++)
            all->diagonals[high * (rules->width + 1) + wide] = sqrt(high * high + wide * wide);
    int64_t squares = squares_of(rules);
    for (int32_t number = 0; number < squares; number++) all->squarefree[number] = number, all->factor[number] = 1;
    for (int32_t root = 2; root * root < squares; root++)
        for (int32_t number = root * root; number < squares; number += root * root)
            all->squarefree[number] = number / (root * root), all->factor[number] = root;
}

static void forget_sheet(sheet *all) {
    if (!all) return;
    free(all->choose);
    free(all->diagonals);
    free(all->squarefree);
    free(all->factor);
    free(all->sums);
    free(all);
}

/* NULL without memory. */
static sheet *sheet_from(const game *rules, const state *root, job *found) {
    sheet *all = calloc(1, sizeof *all);
    if (!all) return NULL;
    all->rules = rules;
    all->found = found;
    for (int line = 0; line < rules->existing; line++) {
        if (has(root->undrawn, line)) all->lines[all->free++] = line;
        else all->drawn[all->in_root++] = line;
    }
    all->most = most_lines(rules) - all->in_root;
    size_t squares = (size_t)squares_of(rules);
    all->choose = malloc((size_t)(all->free + 1) * (size_t)(all->most + 2) * sizeof *all->choose);
    all->diagonals = malloc((size_t)(rules->width + 1) * (size_t)(rules->height + 1) * sizeof *all->diagonals);
    all->squarefree = malloc(squares * sizeof(int32_t));
    all->factor = malloc(squares * sizeof(int32_t));
    all->sums = calloc(squares, sizeof(int32_t));
    if (all->choose && all->diagonals && all->squarefree && all->factor && all->sums) {
        fill_sheet(all);
        return all;
    }
    forget_sheet(all);
    return NULL;
}

/* Levels may take turns in memory. */
static int fill_levels(const sheet *all, int64_t *const *levels) {
    for (int members = all->most; members >= 0; members--) {
        int code = fill_level(all, members, levels[members], members < all->most ? levels[members + 1] : NULL);
        if (code != SOLVED) return code;
    }
    return SOLVED;
}

static worth worth_of(int64_t value) {
    int outcome = sign_of(value) * (llabs(value) > OUTCOME / 2);
    return (worth){outcome, value - outcome * OUTCOME};
}

static int solve_levels(const sheet *all, int64_t **levels, job *found) {
    int64_t most[2] = {0, 0};
    for (int members = 0; members <= all->most; members++)
        most[members % 2] = LARGER(most[members % 2], choose(all, all->free, members));
    for (int members = 0; members <= all->most; members++)
        levels[members] = members < 2 ? malloc((size_t)most[members] * sizeof(int64_t)) : levels[members - 2];
    int code = levels[0] && levels[1] ? fill_levels(all, levels) : NO_MEMORY;
    if (code != SOLVED) return code;
    worth first = worth_of(levels[0][0]);
    found->outcome = (int32_t)first.outcome;
    found->margin = first.margin;
    for (int line = 0; line < all->free; line++) found->best[line] = levels[1][line] == levels[0][0];
    return SOLVED;
}

static int solve(const game *rules, job *found) {
    int64_t *levels[MAX_LINES + 1] = {NULL, NULL};
    state root;
    start(rules, &root);
    sheet *all = sheet_from(rules, &root, found);
    int code = all ? solve_levels(all, levels, found) : NO_MEMORY;
    free(levels[0]);
    free(levels[1]);
    forget_sheet(all);
    return code;
}

static int plan_table(const game *rules, const state *root, table_plan *plan) {
    int drawn = root->upright + root->level;
    double sets = sets_up_to(rules->existing - drawn, most_lines(rules) - drawn);
    if (rules->players != 2 || sets >= MOST_SETS) return 0;
    plan->states = (int64_t)sets;
    plan->bytes = plan->states * (int64_t)sizeof(int64_t);
    plan->work_bytes = sheet_bytes(rules, rules->existing - drawn, most_lines(rules) - drawn);
    return 1;
}

/* A table has the levels one after the other, that of the root first. */
static int fill_table(const game *rules, const state *root, void *values, job *task) {
    int64_t *levels[MAX_LINES + 1], *next = values;
    sheet *all = sheet_from(rules, root, task);
    if (!all) return NO_MEMORY;
    for (int members = 0; members <= all->most; members++) {
        levels[members] = next;
        next += choose(all, all->free, members);
    }
    int code = fill_levels(all, levels);
    forget_sheet(all);
    return code;
}

/* The number of the set of lines that a state has more than the root, among the sets of all sizes up to it. */
static int64_t place_in_table(const game *rules, const state *root, const state *now) {
    int64_t number = 0;
    int members = 0, free_lines = 0;
    for (int line = 0; line < rules->existing; line++) {
        if (!has(root->undrawn, line)) continue;
        if (!has(now->undrawn, line)) number += (int64_t)sets_of(free_lines, ++members);
        free_lines++;
    }
    return members ? number + (int64_t)sets_up_to(free_lines, members - 1) : number;
}

static int look_up(const game *rules, const state *root, const void *values, const state *now, job *task, worth *found) {
    const int64_t *all = values;
    (void)task;
    if (!root) return NOT_THERE;
    for (int line = 0; line < rules->existing; line++)
        if (!has(root->undrawn, line) && has(now->undrawn, line)) return NOT_THERE;
    state after = *now;
    undo back;
    int count = count_actions(rules, now);
    for (int n = 0; n < count; n++) {
        make(rules, &after, nth_action(rules, now, n), &back);
        found[n] = worth_of(all[place_in_table(rules, root, &after)]);
        unmake(rules, &after, &back);
    }
    return SOLVED;
}
