/* Values of all partial permutations of a size, level by level from the full ones back to the empty one.
 *
 * A level has all ways to put k marks. Its index is perfect: the marked columns, then the marked rows, as sets in
 * numerical order, then the lexicographic number of the permutation that the marks are among themselves. So a level needs
 * no hashing and one value for each state, and two levels are in memory at a time. Adding a mark to each of the k!
 * permutations of a block leads into one block of the next level, at places that depend only on where the mark comes in
 * among the others: its place p among the columns and v among the rows.
 *
 * Before this file, a game defines the type value, and best_of(seat, value, value) and nothing_yet(seat).
 */
#include "solving.h"

enum { MAX_SOLVED = 12, KEPT_LEVELS = 9 };

typedef struct {
    int size;
    int64_t factorial[MAX_SOLVED + 1], choose[MAX_SOLVED + 1];   /* size over k */
    uint16_t number[1 << MAX_SOLVED];                           /* of a set, among those of as many members */
    uint32_t *kept[KEPT_LEVELS][MAX_SOLVED][MAX_SOLVED];        /* see insertions; NULL before it is wanted */
    uint32_t *once;                                             /* for levels that are too large to keep */
} lattice;

static int64_t states_of_level(int size, int marks) {
    int64_t sets = 1, orders = 1;
    for (int k = 0; k < marks; k++) {
        sets = sets * (size - k) / (k + 1);
        orders *= k + 1;
    }
    return sets * sets * orders;
}

static int64_t states_of_size(int size) {
    int64_t total = 0;
    for (int marks = 0; marks <= size; marks++) total += states_of_level(size, marks);
    return total;
}

/* How many values the largest level has, of those that take turns in the same room as the full one, or in the other. */
static int64_t largest_level(int size, int other) {
    int64_t most = 0;
    for (int marks = 0; marks <= size; marks++) {
        int64_t count = (size - marks) % 2 == other ? states_of_level(size, marks) : 0;
        most = count > most ? count : most;
    }
    return most;
}

/* The bytes of what insertions returns, kept or made again. */
static int64_t insertion_bytes(int size) {
    int64_t orders = 1, total = 0;
    for (int marks = 0; marks < size; marks++) {
        total += marks < KEPT_LEVELS ? orders * (marks + 1) * (marks + 1) * 4 : orders * 4;
        orders *= marks + 1;
    }
    return total;
}

static void prepare_lattice(lattice *all, int size) {
    int seen[MAX_SOLVED + 1] = {0};
    memset(all, 0, sizeof *all);
    all->size = size;
    for (int k = 0; k <= size; k++) all->factorial[k] = k ? all->factorial[k - 1] * k : 1;
    for (int set = 0; set < 1 << size; set++) all->number[set] = (uint16_t)seen[__builtin_popcount((unsigned)set)]++;
    for (int k = 0; k <= size; k++) all->choose[k] = seen[k];
}

static void forget_lattice(lattice *all) {
    for (int k = 0; k < KEPT_LEVELS; k++)
        for (int p = 0; p < MAX_SOLVED; p++)
            for (int v = 0; v < MAX_SOLVED; v++) free(all->kept[k][p][v]);
    free(all->once);
}

typedef struct {
    const lattice *all;
    int marks, place, value;
    uint32_t *next;
} insertion;

/* Write the numbers of the permutations that begin in a way, with a value inserted at a place, in their order. The number
 * of a permutation is the sum over its elements of how many smaller ones follow, times the orders of all that follow. */
static void write_insertions(insertion *into, int at, int unused, int64_t number, int64_t smaller) {
    if (at == into->marks) {
        *into->next++ = (uint32_t)(number + smaller * into->all->factorial[into->marks - into->place]);
        return;
    }
    int64_t below = 0;
    for (int rest = unused; rest; rest &= rest - 1, below++) {
        int element = __builtin_ctz((unsigned)rest), left = unused & ~(1 << element);
        if (at < into->place) {
            int64_t following = below + (element >= into->value);
            write_insertions(into, at + 1, left, number + following * into->all->factorial[into->marks - at], smaller);
        } else {
            int64_t here = below * into->all->factorial[into->marks - 1 - at];
            write_insertions(into, at + 1, left, number + here, smaller + (element < into->value));
        }
    }
}

/* For each permutation of so many marks, the number of the one that it becomes with another mark, which has so many
 * marked columns to its left, and so many marked rows below. NULL without memory. */
static const uint32_t *insertions(lattice *all, int marks, int place, int value) {
    uint32_t **where = marks < KEPT_LEVELS ? &all->kept[marks][place][value] : &all->once;
    if (marks < KEPT_LEVELS && *where) return *where;
    size_t size = (size_t)all->factorial[marks] * sizeof **where;
    if (!*where) *where = malloc(marks < KEPT_LEVELS ? size : (size_t)all->factorial[all->size - 1] * sizeof **where);
    if (!*where) return NULL;
    insertion into = {all, marks, place, value, *where};
    write_insertions(&into, 0, (1 << marks) - 1, 0, 0);
    return *where;
}

static void combine(value *restrict before, const value *restrict after, const uint32_t *restrict to, int64_t count,
                    int seat) {
    if (seat == 0)
        for (int64_t k = 0; k < count; k++) before[k] = best_of(0, before[k], after[to[k]]);
    else
        for (int64_t k = 0; k < count; k++) before[k] = best_of(1, before[k], after[to[k]]);
}

static int below_in(int set, int member) { return __builtin_popcount((unsigned)set & ((1u << member) - 1)); }

/* Take in the actions that put a mark at a place among the columns and the rows, for one set of marked columns and the
 * new one. */
static void step_back_rows(const lattice *all, int marks, int seat, value *before, const value *after,
                           const uint32_t *to, int columns, int column, int lower, int64_t *edges) {
    int64_t count = all->factorial[marks], more = all->factorial[marks + 1];
    int64_t from = all->number[columns] * all->choose[marks];
    int64_t into = all->number[columns | 1 << column] * all->choose[marks + 1];
    for (int rows = 0; rows < 1 << all->size; rows++) {
        if (__builtin_popcount((unsigned)rows) != marks) continue;
        for (int row = 0; row < all->size; row++) {
            if (rows >> row & 1 || below_in(rows, row) != lower) continue;
            combine(before + (from + all->number[rows]) * count, after + (into + all->number[rows | 1 << row]) * more, to,
                    count, seat);
            *edges += count;
        }
    }
}

/* Fill the level of so many marks from the next one. */
static int step_back(lattice *all, int marks, int seat, value *before, const value *after, job *task) {
    int64_t count = states_of_level(all->size, marks);
    for (int64_t k = 0; k < count; k++) before[k] = nothing_yet(seat);
    task->states += count;
    for (int left = 0; left <= marks; left++) {
        for (int lower = 0; lower <= marks; lower++) {
            const uint32_t *to = insertions(all, marks, left, lower);
            if (!to) return NO_MEMORY;
            for (int columns = 0; columns < 1 << all->size; columns++) {
                if (__builtin_popcount((unsigned)columns) != marks) continue;
                if (*task->stop) return STOPPED;
                for (int column = 0; column < all->size; column++)
                    if (!(columns >> column & 1) && below_in(columns, column) == left)
                        step_back_rows(all, marks, seat, before, after, to, columns, column, lower, &task->edges);
            }
        }
    }
    return SOLVED;
}

/* The next permutation in lexicographic order; 0 after the last. */
static int next_permutation(uint8_t *list, int size) {
    int k = size - 2, j = size - 1;
    while (k >= 0 && list[k] >= list[k + 1]) k--;
    if (k < 0) return 0;
    while (list[j] <= list[k]) j--;
    uint8_t kept = list[k];
    list[k] = list[j];
    list[j] = kept;
    for (int low = k + 1, high = size - 1; low < high; low++, high--) {
        kept = list[low];
        list[low] = list[high];
        list[high] = kept;
    }
    return 1;
}

/* Make all columns of a grid marked, in these rows. */
static void fill_grid(grid *marks, const uint8_t *heights) {
    memset(marks->columns, 0, sizeof marks->columns);
    memset(marks->rows, 0, sizeof marks->rows);
    marks->empty = 0;
    for (int column = 0; column < marks->size; column++) {
        marks->heights[column] = heights[column];
        marks->places[heights[column]] = (uint8_t)column;
    }
}

/* Go back from the values of all full permutations, in lexicographic order, to the first state, by the seats that act
 * with so many marks. Writes the values after each first mark, and returns that of the first state in *first. */
static int go_back(lattice *all, const int *seats, value **full, value **other, value *after_first, value *first,
                   job *task) {
    value *after = *full, *before = *other;
    for (int marks = all->size - 1; marks >= 0; marks--) {
        int code = step_back(all, marks, seats[marks], before, after, task);
        if (code != SOLVED) return code;
        if (marks == 0) memcpy(after_first, after, (size_t)(all->size * all->size) * sizeof *after);
        value *kept = after;
        after = before;
        before = kept;
    }
    *first = after[0];
    return SOLVED;
}

/* Room for two levels at a time; 0 without memory. */
static int allocate_levels(int size, value **full, value **other) {
    size_t sizes[2];
    for (int k = 0; k < 2; k++) sizes[k] = ((size_t)largest_level(size, k) * sizeof(value) + 63) / 64 * 64;
    *full = aligned_alloc(64, sizes[0]);
    *other = aligned_alloc(64, sizes[1]);
    return *full && *other;
}

static int64_t level_bytes(int size) {
    return (largest_level(size, 0) + largest_level(size, 1)) * (int64_t)sizeof(value) + insertion_bytes(size);
}
