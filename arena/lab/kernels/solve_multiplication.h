/* Solves multiplication: the numbering of each full grid by sets of marks with a number, LANES grids at a time; then the
 * marking by levels of partial permutations. */

typedef int16_t value;

static inline value best_of(int seat, value one, value other) {
    if (seat == 0) return one > other ? one : other;
    return one < other ? one : other;
}

static inline value nothing_yet(int seat) { return seat == 0 ? INT16_MIN : INT16_MAX; }

#include "levels.h"

enum { LANES = 16 };

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

/* The margins of a number of full grids, all columns of which are marked in these rows. */
static lanes solve_numbering(int size, const int16_t (*heights)[LANES], lanes *values, job *task) {
    lanes jumps[MAX_SOLVED * MAX_SOLVED];
    int everything = (1 << (size - 1)) - 1;
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size; to++)
            for (int k = 0; k < LANES; k++)
                jumps[from * size + to][k] = (int16_t)(abs(from - to) * abs(heights[from][k] - heights[to][k]));
    for (int last = 1; last < size; last++) values[everything * size + last] = (lanes){0};
    for (int numbered = everything - 1; numbered > 0; numbered--) {
        int count = __builtin_popcount((unsigned)numbered);
        task->edges += LANES * count * (size - 1 - count);
        for (int last = 1; last < size; last++)
            if (numbered >> (last - 1) & 1)
                values[numbered * size + last] = numbering_value(size, values, jumps, numbered, last);
    }
    return numbering_value(size, values, jumps, 0, 0);
}

/* Seat 0 begins the numbering (rule 4), so the margin is that of the seat to act. */
static int write_ends(const game *rules, value *margins, job *task) {
    int size = rules->size, filled = 0, is_more = 1;
    int16_t rows[MAX_SOLVED][LANES];
    uint8_t heights[MAX_SIZE];
    lanes *values = aligned_alloc(64, (size_t)numbering_states(size) * sizeof *values + 64);
    if (!values) return NO_MEMORY;
    for (int column = 0; column < size; column++) heights[column] = (uint8_t)column;
    while (is_more && !*task->stop) {
        for (int column = 0; column < size; column++) rows[column][filled] = heights[column];
        is_more = next_permutation(heights, size);
        if (++filled < LANES && is_more) continue;
        lanes found = solve_numbering(size, (const int16_t(*)[LANES])rows, values, task);
        for (int k = 0; k < filled; k++) *margins++ = found[k];
        filled = 0;
    }
    free(values);
    return is_more ? STOPPED : SOLVED;
}

#include "solve_integers.h"

/* With one number more, one state for each set of marks and its last one; the marking adds its own. */
static int64_t solver_states(const game *rules) {
    int64_t orders = 1, size = rules->size;
    for (int k = 2; k <= size; k++) orders *= k;
    return states_of_size(rules->size) + orders * ((size - 1) << (size - 2));
}
