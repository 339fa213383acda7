/* Random playouts of plaid for two on small sheets, whose lines are in two words. */
#define HAS_OWN_PLAYOUTS

static int plays_fast(const game *rules) { return rules->is_small && rules->players == 2; }

/* Whether the sums of both seats are equal: each is a sum of factors times roots of squarefree numbers, which are linearly
 * independent (arena/games/surds.py). */
static int is_exact_tie(const gaps *all) {
    int32_t sums[2 * MAX_SMALL * MAX_SMALL + 1] = {0}, sign = 1, differ = 0;
    for (int row = all->rows - 1; row >= 0; row--) {
        for (int column = 0; column < all->columns; column++, sign = -sign) {
            int number = all->widths[column] * all->widths[column] + all->heights[row] * all->heights[row], factor = 1;
            for (int k = 2; k * k <= number; k++)
                for (; number % (k * k) == 0; factor *= k) number /= k * k;
            differ -= sums[number] != 0;
            sums[number] += sign * factor;
            differ += sums[number] != 0;
        }
    }
    return differ == 0;
}

/* Draw lines to the end of the match; returns how many. There is no branch on a line, which nothing could predict. */
static inline int draw_lines(const game *rules, uint64_t generator, int standing, uint64_t *undrawn) {
    uint64_t first = undrawn[0], second = undrawn[1], upright = ((uint64_t)1 << (rules->width - 1)) - 1;
    int in_first = __builtin_popcountll(first), drawn = 0;
    for (;; drawn++) {
        if (standing + drawn >= rules->lines) {
            int uprights = rules->width - 1 - __builtin_popcountll(first & upright);
            if ((uprights + 1) * (standing + drawn - uprights + 1) % 2 == 0) break;
        }
        int n = random_below(&generator, rules->existing - standing - drawn), is_second = n >= in_first;
        uint64_t mask = -(uint64_t)is_second, bit = nth_bit(first ^ ((first ^ second) & mask), n - (in_first & (int)mask));
        first ^= bit & ~mask;
        second ^= bit & mask;
        in_first -= !is_second;
    }
    undrawn[0] = first;
    undrawn[1] = second;
    return drawn;
}

/* Rule 5, with the sums in the order of scores. Most sheets have at most eight columns: with as many loops always end after
 * as many columns, which the processor predicts; those that are not there add 0. */
static inline void add_diagonals(const game *rules, gaps *all, double *totals) {
    int seat = 0;
    memset(all->widths + all->columns, 0, 8 * sizeof *all->widths);
    totals[0] = totals[1] = 0;
    for (int row = all->rows - 1; row >= 0; row--) {
        const double *of_height = rules->diagonals[all->heights[row]];
        double even = 0, odd = 0;
        for (int column = 0; column < all->columns; column += 8) {
            for (int k = column; k < column + 8; k += 2) {
                even += of_height[all->widths[k]];
                odd += of_height[all->widths[k + 1]];
            }
        }
        totals[seat] += even;
        totals[!seat] += odd;
        seat ^= all->columns & 1;
    }
}

/* As kernel_playouts, but for ties, which are found here. */
static int64_t play_fast(const game *rules, const state *from, uint64_t seed, uint64_t first, int64_t count,
                         int64_t *ranked, double *score_sums, int64_t *plies) {
    double totals[2];
    int32_t ranks[2];
    gaps all;
    for (int64_t played = 0; played < count; played++) {
        uint64_t undrawn[2] = {from->undrawn[0], rules->words > 1 ? from->undrawn[1] : 0};
        int drawn = draw_lines(rules, generator_of(seed, first + (uint64_t)played), from->upright + from->level, undrawn);
        find_all_gaps(rules, undrawn, &all);
        add_diagonals(rules, &all, totals);
        double bound = (totals[0] + totals[1]) * (all.columns * all.rows) * 0x1p-52;   /* see uncertainty */
        if (!rank(totals, 2, fmax(1e-9, bound), ranks)) {
            if (!is_exact_tie(&all)) return played;
            ranks[0] = ranks[1] = 1;
        }
        *plies += drawn;
        for (int seat = 0; seat < 2; seat++) {
            ranked[2 * seat + ranks[seat] - 1]++;
            score_sums[seat] += totals[seat];
        }
    }
    return count;
}
