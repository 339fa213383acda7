/* Marking where each full grid has a margin of a byte, which follows from its scores. */

#define VALUE int8_t
#define OF(name) name##_of_bytes
#define NOTHING_0 INT8_MIN
#define NOTHING_1 INT8_MAX
#define FOR_SEAT_0 LARGER
#define FOR_SEAT_1 SMALLER
#include "levels.h"

/* The margins of full grids, each by its scores; what the root has besides marks stays as it is. */
static int write_ends(const game *rules, const state *root, const lattice *all, VALUE *margins, job *task) {
    uint8_t order[MAX_SOLVED];
    double totals[2];
    state now = *root;
    for (int k = 0; k < all->size; k++) order[k] = (uint8_t)k;
    do {
        if ((task->states++ & 0xFFFF) == 0 && ends_early(task)) return STOPPED;
        complete(all, order, &now.marks);
        scores(rules, &now, totals);
        *margins++ = (VALUE)(totals[0] - totals[1]);
    } while (next_permutation(order, all->size));
    return SOLVED;
}

#include "marking.h"
