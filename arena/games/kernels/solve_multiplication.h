/* Solves multiplication: the numbering of each full grid by sets of marks with a number, LANES grids at a time; then the
 * marking by levels of partial permutations. */

#define VALUE int16_t
#define OF(name) name##_of_shorts
#define NOTHING_0 INT16_MIN
#define NOTHING_1 INT16_MAX
#define FOR_SEAT_0 LARGER
#define FOR_SEAT_1 SMALLER
#include "levels.h"

enum { LANES = 16, MAX_LEFT = 16 };

typedef int16_t lanes __attribute__((vector_size(2 * LANES)));

static inline lanes larger(lanes one, lanes other) {
    lanes is_larger = one > other;
    return (one & is_larger) | (other & ~is_larger);
}

/* The columns but the leftmost, whose mark always has a number, are a set; so many values for each and its last column. */
static int64_t numbering_states(int size) { return (int64_t)size << (size - 1); }

/* The margin to come when a mark was the last to get a number. Values are those of the seat to act: one's gain is the
 * other's loss. */
static lanes numbering_value(int size, const lanes *values, const lanes *jumps, int numbered, int last) {
    lanes most = (lanes){0} + INT16_MIN;
    for (int next = 1; next < size; next++) {
        if (numbered >> (next - 1) & 1) continue;
        lanes after = values[(numbered | 1 << (next - 1)) * size + next];
        most = larger(most, jumps[last * size + next] - after);
    }
    return most;
}

/* How many states the numbering of a full grid has: a set of marks with its last one, and one with the leftmost alone. */
static int64_t states_of_numbering(int size) { return ((int64_t)(size - 1) << (size - 2)) + 1; }

/* How many actions these states have, all together: the last and the next mark are any two, and the set has any others. */
static int64_t edges_of_numbering(int size) {
    int64_t marks = size - 1;
    return marks + (marks * (marks - 1) << marks) / 4;
}

/* The margins of a number of full grids, all columns of which are marked in these rows. */
static lanes solve_numbering(int size, const int16_t (*heights)[LANES], lanes *values) {
    lanes jumps[MAX_SOLVED * MAX_SOLVED];
    int everything = (1 << (size - 1)) - 1;
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size; to++)
            for (int k = 0; k < LANES; k++)
                jumps[from * size + to][k] = (int16_t)(abs(from - to) * abs(heights[from][k] - heights[to][k]));
    for (int last = 1; last < size; last++) values[everything * size + last] = (lanes){0};
    for (int numbered = everything - 1; numbered > 0; numbered--)
        for (int last = 1; last < size; last++)
            if (numbered >> (last - 1) & 1)
                values[numbered * size + last] = numbering_value(size, values, jumps, numbered, last);
    return numbering_value(size, values, jumps, 0, 0);
}

/* The margin found is that of the seat that begins the numbering (rule 4). */
static int write_ends(const game *rules, const state *root, const lattice *all, VALUE *margins, job *task) {
    int size = rules->size, filled = 0, is_more = 1;
    int16_t rows[MAX_SOLVED][LANES];
    uint8_t order[MAX_SOLVED];
    grid marks = root->marks;
    lanes *values = aligned_alloc(64, (size_t)numbering_states(size) * sizeof *values);
    if (!values) return NO_MEMORY;
    for (int k = 0; k < all->size; k++) order[k] = (uint8_t)k;
    while (is_more && !ends_early(task)) {
        complete(all, order, &marks);
        for (int column = 0; column < size; column++) rows[column][filled] = marks.heights[column];
        is_more = next_permutation(order, all->size);
        if (++filled < LANES && is_more) continue;
        lanes found = solve_numbering(size, (const int16_t(*)[LANES])rows, values);
        for (int k = 0; k < filled; k++) *margins++ = rules->starter ? (VALUE)-found[k] : found[k];
        task->states += filled * states_of_numbering(size);
        task->edges += filled * edges_of_numbering(size);
        filled = 0;
    }
    free(values);
    return is_more ? STOPPED : SOLVED;
}

#include "marking.h"
#include "solve_integers.h"

/* A full grid is the first state of its numbering. */
static int64_t solver_states(const game *rules) {
    int64_t grids = states_of_level(rules->size, rules->size);
    return states_of_size(rules->size) + grids * (states_of_numbering(rules->size) - 1);
}

static int plan_table(const game *rules, const state *root, table_plan *plan) {
    if (rules->players != 2 || rules->size > MAX_SOLVED || !plan_marking(root, plan)) return 0;
    plan->work_bytes += numbering_states(rules->size) * (int64_t)sizeof(lanes);
    return 1;
}

static int fill_table(const game *rules, const state *root, void *values, job *task) {
    return fill_marking(rules, root, values, task);
}

/* The marks that are left to number, in the order of their columns, and the one that was numbered last. */
typedef struct {
    int left, here;
    int32_t jumps[MAX_LEFT + 1][MAX_LEFT];   /* from each mark that is left, or from the last one, to each */
} ending;

static void prepare_ending(const state *now, ending *rest) {
    int columns[MAX_LEFT + 1];
    rest->left = rest->here = now->marks.size - now->numbered;
    for (int k = 0; k < rest->left; k++) columns[k] = nth_member(now->unnumbered, GRID_WORDS, k);
    columns[rest->here] = now->order[now->numbered - 1];
    for (int from = 0; from <= rest->left; from++)
        for (int to = 0; to < rest->left; to++)
            rest->jumps[from][to] = abs(columns[from] - columns[to]) *
                                    abs(now->marks.heights[columns[from]] - now->marks.heights[columns[to]]);
}

/* The margin to come for the seat to act, with a set of marks numbered, the last of which is one of them. */
static int32_t margin_to_come(const ending *rest, const int32_t *values, int numbered, int last) {
    int32_t most = INT32_MIN;
    for (int next = 0; next < rest->left; next++) {
        if (numbered >> next & 1) continue;
        int32_t margin = rest->jumps[last][next] - values[(numbered | 1 << next) * rest->left + next];
        most = LARGER(most, margin);
    }
    return most;
}

static int look_up_numbering(const game *rules, const state *now, worth *found) {
    ending rest;
    if (rules->players != 2 || rules->size - now->numbered > MAX_LEFT) return NOT_THERE;
    prepare_ending(now, &rest);
    int everything = (1 << rest.left) - 1, sign = seat_to_act(rules, now) == 0 ? 1 : -1;
    int32_t *values = calloc((size_t)(everything + 1) * (size_t)rest.left, sizeof *values);
    if (!values) return NO_MEMORY;
    for (int numbered = everything - 1; numbered > 0; numbered--)
        for (int last = 0; last < rest.left; last++)
            if (numbered >> last & 1)
                values[numbered * rest.left + last] = margin_to_come(&rest, values, numbered, last);
    for (int next = 0; next < rest.left; next++) {
        int32_t margin = rest.jumps[rest.here][next] - values[(1 << next) * rest.left + next];
        found[next] = worth_of_margin(now->totals[0] - now->totals[1] + sign * margin);
    }
    free(values);
    return SOLVED;
}

static int look_up(const game *rules, const state *root, const void *values, const state *now, job *task, worth *found) {
    (void)task;
    return now->numbered ? look_up_numbering(rules, now, found) : look_up_marking(rules, root, values, now, found);
}
