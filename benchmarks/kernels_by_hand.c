/* Random playouts by hand, to compare the kernels with: each game with its default options and nothing else, from one fast
 * generator. In all but coprimality the number of legal actions depends on the ply alone, so all orders of actions are
 * equally likely: marks are a shuffled permutation, and a line that is drawn already is drawn again. Only coprimality is
 * played action by action with its legal squares.
 *
 * Each function adds how often seat 0 wins, ties and loses to outcomes, both scores to sums, and returns the plies.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* wyrand, by Wang Yi: https://github.com/wangyi-fudan/wyhash */
static inline uint64_t next(uint64_t *generator) {
    *generator += 0xA0761D6478BD642Fu;
    unsigned __int128 product = (unsigned __int128)*generator * (*generator ^ 0xE7037ED1A0B428DBu);
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static inline int below(uint32_t bits, int bound) { return (int)((uint64_t)bits * (uint64_t)bound >> 32); }

/* Fisher and Yates; each 64 bits give two numbers. */
static inline void shuffle(uint64_t *generator, uint8_t *items, int count) {
    uint64_t bits = 0;
    for (int k = count - 1; k > 0; k--) {
        bits = (count - 1 - k) % 2 ? bits >> 32 : next(generator);
        int other = below((uint32_t)bits, k + 1);
        uint8_t item = items[k];
        items[k] = items[other];
        items[other] = item;
    }
}

/* Scores that differ by no more than tie are equal. */
static inline void add(int64_t *outcomes, double *sums, double first, double second, double tie) {
    outcomes[fabs(first - second) <= tie ? 1 : first > second ? 0 : 2]++;
    sums[0] += first;
    sums[1] += second;
}

/* Differences of size 8. */

static inline int item(uint64_t list, int k) { return (int)(list >> (4 * k) & 15); }

/* The heights and the columns of the marks, four bits each: bytes in memory would wait for each other. */
static inline void make_lists(const uint8_t *heights, int size, uint64_t *lists) {
    lists[0] = lists[1] = 0;
    for (int column = 0; column < size; column++) {
        lists[0] |= (uint64_t)heights[column] << (4 * column);
        lists[1] |= (uint64_t)column << (4 * heights[column]);
    }
}

static inline int different_steps(uint64_t list) {
    uint32_t seen = 0;
    for (int k = 0; k < 7; k++) seen |= 1u << abs(item(list, k + 1) - item(list, k));
    return __builtin_popcount(seen);
}

EXPORT int64_t differences(uint64_t seed, int64_t count, int64_t *outcomes, double *sums) {
    uint8_t heights[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    uint64_t lists[2];
    for (int64_t played = 0; played < count; played++) {
        shuffle(&seed, heights, 8);
        make_lists(heights, 8, lists);
        int first = different_steps(lists[0]), second = different_steps(lists[1]);
        outcomes[1 + (second > first) - (first > second)]++;   /* without a branch: nearly every other one is a tie */
        sums[0] += first;
        sums[1] += second;
    }
    return 8 * count;
}

/* Plusminus of size 8: 14 signs are 14 bits. */

static inline int agreeing(uint64_t list, uint64_t minus) {
    int count = 0;
    for (int k = 0; k < 7; k++) count += (item(list, k + 1) < item(list, k)) == (int)(minus >> k & 1);
    return count;
}

EXPORT int64_t plusminus(uint64_t seed, int64_t count, int64_t *outcomes, double *sums) {
    uint8_t heights[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    uint64_t lists[2];
    for (int64_t played = 0; played < count; played++) {
        uint64_t signs = next(&seed);
        shuffle(&seed, heights, 8);
        make_lists(heights, 8, lists);
        add(outcomes, sums, agreeing(lists[0], signs), agreeing(lists[1], signs >> 7), 0);
    }
    return 22 * count;
}

/* Multiplication of size 9: the leftmost mark is number 1, the others are numbered in any order. */

EXPORT int64_t multiplication(uint64_t seed, int64_t count, int64_t *outcomes, double *sums) {
    uint8_t heights[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, order[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    for (int64_t played = 0; played < count; played++) {
        int totals[2] = {0, 0};
        shuffle(&seed, heights, 9);
        shuffle(&seed, order + 1, 8);
        for (int jump = 0; jump < 8; jump++) {
            int from = order[jump], to = order[jump + 1];
            totals[jump % 2] += abs(to - from) * abs(heights[to] - heights[from]);
        }
        add(outcomes, sums, totals[0], totals[1], 0);
    }
    return 17 * count;
}

/* Plaid on 60 by 60 with 12 lines: a line that stands already is drawn again. Sums that differ by 1e-9 count as ties. */

enum { SIDE = 60, LINES = 12 };
static double diagonals[SIDE + 1][SIDE + 1];

static inline int gaps(uint64_t lines, int *found) {
    int count = 0, previous = 0;
    for (; lines; lines &= lines - 1) {
        int place = __builtin_ctzll(lines);
        found[count++] = place - previous;
        previous = place;
    }
    found[count++] = SIDE - previous;
    return count;
}

EXPORT int64_t plaid(uint64_t seed, int64_t count, int64_t *outcomes, double *sums) {
    int64_t plies = 0;
    for (int width = 0; width <= SIDE; width++)
        for (int height = 0; height <= SIDE; height++) diagonals[height][width] = sqrt(width * width + height * height);
    for (int64_t played = 0; played < count; played++) {
        uint64_t lines[2] = {0, 0};
        int drawn[2] = {0, 0}, widths[SIDE], heights[SIDE], seat = 0;
        double totals[2] = {0, 0};
        while (drawn[0] + drawn[1] < LINES || (drawn[0] + 1) * (drawn[1] + 1) % 2) {
            int line = below((uint32_t)next(&seed), 2 * (SIDE - 1)), is_level = line >= SIDE - 1;
            uint64_t bit = (uint64_t)2 << (line - is_level * (SIDE - 1));
            drawn[is_level] += !(lines[is_level] & bit);
            lines[is_level] |= bit;
        }
        int columns = gaps(lines[0], widths), rows = gaps(lines[1], heights);
        for (int row = rows - 1; row >= 0; row--) {
            double alternating[2] = {0, 0};
            for (int column = 0; column < columns; column++)
                alternating[column % 2] += diagonals[heights[row]][widths[column]];
            totals[seat] += alternating[0];
            totals[!seat] += alternating[1];
            seat ^= columns % 2;
        }
        plies += drawn[0] + drawn[1];
        add(outcomes, sums, totals[0], totals[1], 1e-9);
    }
    return plies;
}

/* Coprimality of size 12 with 10 grids. The board has a frame; a square knows how many numbers are beside it, one more on
 * the border, and much more once it has a number itself, so that a legal one has from 2 to 9. */

enum { ROW = 14, SQUARES = ROW * ROW, NUMBERS = 144, TAKEN = 16 };

EXPORT int64_t coprimality(uint64_t seed, int64_t count, int64_t *outcomes, double *sums) {
    static const int beside[4] = {-1, -ROW, ROW, 1};
    uint8_t empty[SQUARES], squares[SQUARES];
    uint32_t on_empty[SQUARES] = {0}, on[SQUARES], factors[NUMBERS + 1] = {0};
    int8_t ends_turn[NUMBERS + 1] = {0};
    int64_t plies = 0;
    for (int number = 2, primes = 0; number <= NUMBERS; number++) {
        if (factors[number]) continue;
        ends_turn[number] = 1;
        if (number > NUMBERS / 2) factors[number] = (uint32_t)1 << 31;   /* the only multiple */
        else for (int multiple = number; multiple <= NUMBERS; multiple += number) factors[multiple] |= 1u << primes;
        primes++;
    }
    for (int number = 2; number <= NUMBERS; number++) factors[number] &= ~((uint32_t)1 << 31);
    for (int square = 0; square < SQUARES; square++) {
        int x = square % ROW, y = square / ROW, is_frame = x == 0 || x == ROW - 1 || y == 0 || y == ROW - 1;
        empty[square] = is_frame ? TAKEN : x == 1 || x == ROW - 2 || y == 1 || y == ROW - 2;
    }
    for (int64_t played = 0; played < count; played++) {
        int loser = -1;
        for (int grids = 0; grids < 10 && loser < 0; grids++) {
            int here = 12 * ROW + 1, number = 1, seat = 0;
            memcpy(squares, empty, sizeof squares);
            memcpy(on, on_empty, sizeof on);
            for (;;) {
                int choices = 0, choice[4];
                squares[here] += TAKEN;
                on[here] = factors[number];
                for (int k = 0; k < 4; k++) {
                    int square = here + beside[k];
                    int neighbours = ++squares[square];
                    choice[choices] = square;
                    choices += neighbours >= 2 && neighbours < TAKEN;
                }
                if (!choices) break;
                here = choices == 1 ? choice[0] : choice[below((uint32_t)next(&seed), choices)];   /* most are forced */
                number++;
                plies++;
                uint32_t around = on[here - 1] | on[here + 1] | on[here - ROW] | on[here + ROW];
                if (around & factors[number]) {
                    loser = seat;
                    break;
                }
                seat ^= ends_turn[number];
            }
        }
        add(outcomes, sums, loser == 1, loser == 0, 0);
    }
    return plies;
}
