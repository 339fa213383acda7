/* Solves differences: levels of partial permutations, a byte for each state. */

#include "byte_marking.h"
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
