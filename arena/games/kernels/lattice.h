/* All ways to put marks on the free columns and rows of a grid, level by level, from none to a full grid.
 *
 * A level has all ways to put k marks. Its index is perfect: the marked columns, then the marked rows, as sets in
 * numerical order, then the lexicographic number of the permutation that the marks are among themselves. So a level needs
 * no hashing and one value for each state. Adding a mark to each of the k! permutations of a block leads into one block of
 * the next level, at places that depend only on where the mark comes in among the others: its place p among the columns
 * and v among the rows.
 *
 * Columns and rows that are marked in the first grid, the root, stay as they are; those that are free there are counted
 * from 0.
 */
#ifndef LATTICE_H
#define LATTICE_H

#include "solving.h"

enum { MAX_SOLVED = 12, KEPT_LEVELS = 9 };

typedef struct {
    int size;                       /* free columns, and free rows */
    uint8_t columns[MAX_SOLVED], rows[MAX_SOLVED];              /* those that are free */
    int64_t factorial[MAX_SOLVED + 1], choose[MAX_SOLVED + 1];   /* size over k */
    uint16_t number[1 << MAX_SOLVED];                           /* of a set, among those of as many members */
    uint32_t *once;                                             /* insertions of levels that are too large to keep */
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

/* Make the levels above a root, which has at most MAX_SOLVED free columns. */
static void prepare_lattice(lattice *all, const grid *root) {
    int seen[MAX_SOLVED + 1] = {0}, size = root->empty;
    memset(all, 0, sizeof *all);
    all->size = size;
    for (int k = 0; k < size; k++) {
        all->columns[k] = (uint8_t)nth_member(root->columns, GRID_WORDS, k);
        all->rows[k] = (uint8_t)nth_member(root->rows, GRID_WORDS, k);
    }
    for (int k = 0; k <= size; k++) all->factorial[k] = k ? all->factorial[k - 1] * k : 1;
    for (int set = 0; set < 1 << size; set++) all->number[set] = (uint16_t)seen[__builtin_popcount((unsigned)set)]++;
    for (int k = 0; k <= size; k++) all->choose[k] = seen[k];
}

static void forget_lattice(lattice *all) { free(all->once); }

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

static void write_all_insertions(const lattice *all, int marks, int place, int value, uint32_t *numbers) {
    insertion into = {all, marks, place, value, numbers};
    write_insertions(&into, 0, (1 << marks) - 1, 0, 0);
}

static uint32_t *kept_insertions[KEPT_LEVELS][MAX_SOLVED][MAX_SOLVED];   /* the same for all roots, until the end */

/* Insertions that are the same for all roots: other threads may want them at the same time. */
static const uint32_t *keep_insertions(const lattice *all, int marks, int place, int value) {
    uint32_t **where = &kept_insertions[marks][place][value], *before = __atomic_load_n(where, __ATOMIC_ACQUIRE);
    if (before) return before;
    uint32_t *found = malloc((size_t)all->factorial[marks] * sizeof *found);
    if (!found) return NULL;
    write_all_insertions(all, marks, place, value, found);
    if (__atomic_compare_exchange_n(where, &before, found, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return found;
    free(found);
    return before;
}

/* For each permutation of so many marks, the number of the one that it becomes with another mark, which has so many
 * marked columns to its left, and so many marked rows below. NULL without memory. */
static const uint32_t *insertions(lattice *all, int marks, int place, int value) {
    if (marks < KEPT_LEVELS) return keep_insertions(all, marks, place, value);
    if (!all->once) all->once = malloc((size_t)all->factorial[all->size - 1] * sizeof *all->once);
    if (!all->once) return NULL;
    write_all_insertions(all, marks, place, value, all->once);
    return all->once;
}

static int below_in(int set, int member) { return __builtin_popcount((unsigned)set & ((1u << member) - 1)); }

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


/* Fill the free squares of a root's grid. */
static void complete(const lattice *all, const uint8_t *order, grid *marks) {
    memset(marks->columns, 0, sizeof marks->columns);
    memset(marks->rows, 0, sizeof marks->rows);
    marks->empty = 0;
    for (int k = 0; k < all->size; k++) {
        int column = all->columns[k], row = all->rows[order[k]];
        marks->heights[column] = (uint8_t)row;
        marks->places[row] = (uint8_t)column;
    }
}

static int is_within(const grid *root, const grid *marks) {
    for (int column = 0; column < root->size; column++) {
        if (has(root->columns, column)) continue;
        if (has(marks->columns, column) || marks->heights[column] != root->heights[column]) return 0;
    }
    return 1;
}

/* The number of a grid, which is within the root, in its level. */
static int64_t number_in_level(const lattice *all, const grid *marks) {
    int columns = 0, rows = 0, count = 0, heights[MAX_SOLVED];
    int64_t number = 0;
    for (int k = 0; k < all->size; k++) {
        if (!has(marks->rows, all->rows[k])) rows |= 1 << k;
        if (has(marks->columns, all->columns[k])) continue;
        columns |= 1 << k;
        heights[count++] = marks->heights[all->columns[k]];
    }
    for (int k = 0; k < count; k++) {
        int below = 0;
        for (int j = k + 1; j < count; j++) below += heights[j] < heights[k];
        number += below * all->factorial[count - 1 - k];
    }
    return (all->number[columns] * all->choose[count] + all->number[rows]) * all->factorial[count] + number;
}

#endif
