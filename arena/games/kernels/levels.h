/* Values of a lattice, level by level from the full grids back to the root.
 *
 * This file may be included once for each type of values. Before it, a game defines VALUE, the type; OF(name), which makes
 * the name of a function one for this type; FOR_SEAT_0(one, other) and FOR_SEAT_1(one, other), the better one; and
 * NOTHING_0 and NOTHING_1, the worst of all.
 */
#include "lattice.h"

static void OF(combine)(VALUE *restrict before, const VALUE *restrict after, const uint32_t *restrict to, int64_t count,
                        int seat) {
    if (seat == 0)
        for (int64_t k = 0; k < count; k++) before[k] = FOR_SEAT_0(before[k], after[to[k]]);
    else
        for (int64_t k = 0; k < count; k++) before[k] = FOR_SEAT_1(before[k], after[to[k]]);
}

/* Take in the actions that put a mark at a place among the columns and the rows, for one set of marked columns and the
 * new one. */
static void OF(step_back_rows)(const lattice *all, int marks, int seat, VALUE *before, const VALUE *after,
                               const uint32_t *to, int columns, int column, int lower, int64_t *edges) {
    int64_t count = all->factorial[marks], more = all->factorial[marks + 1];
    int64_t from = all->number[columns] * all->choose[marks];
    int64_t into = all->number[columns | 1 << column] * all->choose[marks + 1];
    for (int rows = 0; rows < 1 << all->size; rows++) {
        if (__builtin_popcount((unsigned)rows) != marks) continue;
        for (int row = 0; row < all->size; row++) {
            if (rows >> row & 1 || below_in(rows, row) != lower) continue;
            OF(combine)(before + (from + all->number[rows]) * count, after + (into + all->number[rows | 1 << row]) * more,
                        to, count, seat);
            *edges += count;
        }
    }
}

/* Fill the level of so many marks from the next one. */
static int OF(step_back)(lattice *all, int marks, int seat, VALUE *before, const VALUE *after, job *task) {
    int64_t count = states_of_level(all->size, marks);
    for (int64_t k = 0; k < count; k++) before[k] = seat == 0 ? NOTHING_0 : NOTHING_1;
    task->states += count;
    for (int left = 0; left <= marks; left++) {
        for (int lower = 0; lower <= marks; lower++) {
            const uint32_t *to = insertions(all, marks, left, lower);
            if (!to) return NO_MEMORY;
            for (int columns = 0; columns < 1 << all->size; columns++) {
                if (__builtin_popcount((unsigned)columns) != marks) continue;
                if (ends_early(task)) return STOPPED;
                for (int column = 0; column < all->size; column++)
                    if (!(columns >> column & 1) && below_in(columns, column) == left)
                        OF(step_back_rows)(all, marks, seat, before, after, to, columns, column, lower, &task->edges);
            }
        }
    }
    return SOLVED;
}

/* Fill all levels but that of the full grids, by the seats that act with so many more marks than the root has. A level
 * may lie where the one after the next one was. */
static int OF(go_back)(lattice *all, const int *seats, VALUE *const *levels, job *task) {
    for (int marks = all->size - 1; marks >= 0; marks--) {
        int code = OF(step_back)(all, marks, seats[marks], levels[marks], levels[marks + 1], task);
        if (code != SOLVED) return code;
    }
    return SOLVED;
}

/* Room for two levels at a time, which take turns in it; 0 without memory. The first and the second one are to be freed. */
static int OF(allocate_levels)(int size, VALUE **levels) {
    for (int k = 0; k <= size; k++) {
        size_t bytes = ((size_t)largest_level(size, (size - k) % 2) * sizeof(VALUE) + 63) / 64 * 64;
        levels[k] = k < 2 ? aligned_alloc(64, bytes) : levels[k - 2];
    }
    return levels[0] && levels[1];
}

static int64_t OF(bytes_of_levels)(int size) {
    return (largest_level(size, 0) + largest_level(size, 1)) * (int64_t)sizeof(VALUE) + insertion_bytes(size);
}
