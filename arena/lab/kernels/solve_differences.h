/* Solves differences: levels of partial permutations, a byte for each state. */

#define VALUE int8_t
#define OF(name) name##_of_bytes
#define NOTHING_0 INT8_MIN
#define NOTHING_1 INT8_MAX
#define FOR_SEAT_0 LARGER
#define FOR_SEAT_1 SMALLER
#include "levels.h"

static int write_ends(const game *rules, const state *root, const lattice *all, VALUE *margins, job *task) {
    uint8_t order[MAX_SOLVED];
    double totals[2];
    state now = *root;
    for (int k = 0; k < all->size; k++) order[k] = (uint8_t)k;
    do {
        if ((task->states++ & 0xFFFF) == 0 && *task->stop) return STOPPED;
        complete(all, order, &now.marks);
        scores(rules, &now, totals);
        *margins++ = (VALUE)(totals[0] - totals[1]);
    } while (next_permutation(order, all->size));
    return SOLVED;
}

#include "marking.h"
#include "solve_integers.h"

static int64_t solver_states(const game *rules) { return states_of_size(rules->size); }

static int plan_table(const game *rules, const state *root, table_plan *plan) {
    (void)rules;
    return plan_marking(root, plan);
}

static int fill_table(const game *rules, const state *root, void *values, job *task) {
    return fill_marking(rules, root, values, task);
}

static int look_up(const game *rules, const state *root, const void *values, const state *now, job *task, worth *found) {
    (void)task;
    return look_up_marking(rules, root, values, now, found);
}
