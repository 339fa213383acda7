/* Sheets of plaid: how many lines can stand, the rectangles of a sheet that has ended, and whether sums of roots are equal. */
#ifndef SHEETS_H
#define SHEETS_H
#include "solving.h"

#ifndef NEAR_TIE
#define NEAR_TIE 1e-9   /* scores that differ by no more are compared exactly; a test sets more */
#endif

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
    return upright + level >= rules->lines && (upright + 1) * (level + 1) % rules->players == 0;
}

/* The most lines that can stand (rule 3). Of each number of upright lines it is known whether a sheet with so many continues. */
static int most_lines(const game *rules) {
    uint8_t continues[MAX_SIDE];
    int most = rules->lines;
    for (int is_more = 1; is_more; most += is_more) {
        is_more = 0;
        for (int upright = rules->width - 1; upright >= 0; upright--) {
            int level = most - upright, is_level = level >= 0 && level < rules->height;
            int is_reached = most == rules->lines || continues[upright] || (upright > 0 && continues[upright - 1]);
            continues[upright] = is_level && is_reached && !has_ended(rules, upright, level);
            is_more |= continues[upright];
        }
    }
    return most;
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
static double values_kept(int lines, int most) {
    double largest[2] = {0, 0};
    for (int members = 0; members <= most; members++)
        largest[members % 2] = fmax(largest[members % 2], sets_of(lines, members));
    return largest[0] + largest[1];
}

/* The squares that a diagonal can have, and 0. */
static int64_t squares_of(const game *rules) {
    return (int64_t)rules->width * rules->width + (int64_t)rules->height * rules->height + 1;
}

static int64_t sheet_bytes(const game *rules, int free_lines, int most) {
    int64_t sets = (int64_t)(free_lines + 1) * (most + 2), gaps = (int64_t)(rules->width + 1) * (rules->height + 1);
    return 8 * (sets + gaps) + 12 * squares_of(rules) + (int64_t)sizeof(sheet);
}

/* The memory that takes turns and what else is allocated, for so many lines that are not drawn. */
static int64_t bytes_in_turns(const game *rules, int free_lines, int most) {
    return (int64_t)values_kept(free_lines, most) * (int64_t)sizeof(int64_t) + sheet_bytes(rules, free_lines, most);
}

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

typedef struct {
    int widths[MAX_SIDE], heights[MAX_SIDE];
    int columns, rows;
} rectangles;

static void find_rectangles(const game *rules, const int *lines, int upright, int level, rectangles *found) {
    found->columns = gaps_of(lines, upright, 0, rules->width, found->widths);
    found->rows = gaps_of(lines + upright, level, rules->width - 1, rules->height, found->heights);
}

/* Whether the sums of roots of two seats are equal: each is a sum of factors times roots of squarefree numbers, which are
 * linearly independent (arena/games/surds.py). */
static int is_tie(const sheet *all, const rectangles *end, int one, int other) {
    int differ = 0;
    for (int pass = 0; pass < 2; pass++) {  /* the second one makes the sums 0 again */
        int seat = 0;
        for (int row = end->rows - 1; row >= 0; row--) {
            for (int column = 0; column < end->columns; column++) {
                int squared = end->widths[column] * end->widths[column] + end->heights[row] * end->heights[row];
                int32_t *sum = &all->sums[all->squarefree[squared]], before = *sum;
                *sum += ((seat == one) - (seat == other)) * (pass ? -1 : 1) * all->factor[squared];
                if (pass == 0) differ += (*sum != 0) - (before != 0);
                seat = seat + 1 == all->rules->players ? 0 : seat + 1;
            }
        }
    }
    return differ == 0;
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

#endif
