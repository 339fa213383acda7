/* Solves differences: levels of partial permutations, a byte for each state. */

typedef int8_t value;

static inline value best_of(int seat, value one, value other) {
    if (seat == 0) return one > other ? one : other;
    return one < other ? one : other;
}

static inline value nothing_yet(int seat) { return seat == 0 ? INT8_MIN : INT8_MAX; }

#include "levels.h"

static int write_ends(const game *rules, value *margins, job *task) {
    uint8_t heights[MAX_SIZE];
    double totals[2];
    state now;
    start(rules, &now);
    for (int column = 0; column < rules->size; column++) heights[column] = (uint8_t)column;
    do {
        if ((task->states++ & 0xFFFF) == 0 && *task->stop) return STOPPED;
        fill_grid(&now.marks, heights);
        scores(rules, &now, totals);
        *margins++ = (value)(totals[0] - totals[1]);
    } while (next_permutation(heights, rules->size));
    return SOLVED;
}

#include "solve_integers.h"

static int64_t solver_states(const game *rules) { return states_of_size(rules->size); }
