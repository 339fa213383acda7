/* The grid of the permutation games: at most one mark in each row and column. Columns and rows count from 0. */
#include "common.h"

enum { MAX_SIZE = 100, GRID_WORDS = 2 };

typedef struct {
    int32_t size;
    int32_t empty;                 /* columns without a mark; so many rows are without one, too */
    uint64_t columns[GRID_WORDS];  /* those without a mark */
    uint64_t rows[GRID_WORDS];     /* those without a mark */
    uint8_t heights[MAX_SIZE];     /* the row of the mark in each column that has one */
    uint8_t places[MAX_SIZE];      /* the column of the mark in each row that has one */
} grid;

static inline void clear_grid(grid *marks, int size) {
    marks->size = marks->empty = size;
    fill(marks->columns, GRID_WORDS, size);
    fill(marks->rows, GRID_WORDS, size);
}

/* The n-th free square, by column from the left, then by row from the bottom, as column * size + row. */
static inline int nth_free_square(const grid *marks, int n) {
    unsigned column = (unsigned)n / (unsigned)marks->empty, row = (unsigned)n % (unsigned)marks->empty;
    return nth_member(marks->columns, GRID_WORDS, (int)column) * marks->size +
           nth_member(marks->rows, GRID_WORDS, (int)row);
}

/* Put a mark on a free square, or take it away. */
static inline void flip_mark(grid *marks, int column, int row) {
    flip(marks->columns, column);
    flip(marks->rows, row);
    marks->heights[column] = (uint8_t)row;
    marks->places[row] = (uint8_t)column;
}

static inline void set_mark(grid *marks, int square) {
    flip_mark(marks, square / marks->size, square % marks->size);
    marks->empty--;
}

static inline void take_mark(grid *marks, int square) {
    flip_mark(marks, square / marks->size, square % marks->size);
    marks->empty++;
}

/* Whether the columns (the rows) k and k + 1 both have a mark. */
static inline int both_marked(const uint64_t *empty, int k) { return !has(empty, k) & !has(empty, k + 1); }

/* The heights as the rules have them: from 1, and 0 in an empty column. */
static inline int pack_grid(const grid *marks, int32_t *numbers) {
    for (int column = 0; column < marks->size; column++)
        numbers[column] = has(marks->columns, column) ? 0 : marks->heights[column] + 1;
    return marks->size;
}

static inline void unpack_grid(grid *marks, int size, const int32_t *numbers) {
    clear_grid(marks, size);
    for (int column = 0; column < size; column++)
        if (numbers[column]) set_mark(marks, column * size + numbers[column] - 1);
}
