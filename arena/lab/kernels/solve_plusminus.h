/* Solves plusminus: for a threshold, one bit for each pair of lists that says whether seat 0 reaches that margin; OR and
 * AND over the levels of partial permutations, BITS pairs at a time; then the lists themselves.
 *
 * Turning the grid over changes the signs of one seat's steps, and signs and direction of the other's. So four pairs of
 * lists are worth the same, and the lists of seat 0 that are the smallest of their four are enough.
 */

enum { BITS = 256, WORDS_OF_BITS = BITS / 64, MAX_PREDICTED = 9 };

typedef uint64_t value __attribute__((vector_size(BITS / 8)));

static inline value best_of(int seat, value one, value other) { return seat == 0 ? one | other : one & other; }

static inline value nothing_yet(int seat) { return seat == 0 ? (value){0} : ~(value){0}; }

#include "levels.h"

typedef struct {
    const game *rules;
    lattice all;
    int steps;                  /* signs in a list */
    int lists;                  /* 2^steps */
    int threshold;
    int seats[MAX_SOLVED];
    value *full, *other;
    uint8_t *reached;           /* of each pair of lists, list of seat 0 first: whether seat 0 reaches the threshold */
    int chunk[BITS], in_chunk;  /* the lists of seat 0 that are looked at together */
} prediction;

static int solvable(const game *rules) { return rules->size <= MAX_PREDICTED; }

static int64_t solver_bytes(const game *rules) {
    return level_bytes(rules->size) + ((int64_t)1 << (2 * rules->size - 2));
}

static int64_t solver_states(const game *rules) {
    int64_t pairs = (int64_t)1 << (2 * rules->size - 2);
    return pairs - 1 + pairs * states_of_size(rules->size);
}

static int reversed(int list, int steps) {
    int back = 0;
    for (int k = 0; k < steps; k++) back |= (list >> k & 1) << (steps - 1 - k);
    return back;
}

/* A list of seat 0 (or 1) after the grid was turned over: left to right if sideways, else upside down. */
static int turned(const prediction *task, int list, int seat, int sideways) {
    int flipped = list ^ (task->lists - 1);
    return (seat == 0) == sideways ? reversed(flipped, task->steps) : flipped;
}

static int is_smallest(const prediction *task, int list) {
    int upside_down = turned(task, list, 0, 0), sideways = turned(task, list, 0, 1);
    return list <= upside_down && list <= sideways && list <= turned(task, upside_down, 0, 1);
}

static int agreements(const prediction *task, int list, int signs) {
    return task->steps - __builtin_popcount((unsigned)(list ^ signs));
}

/* Where the list of each column (row) steps down. */
static int signs_of_steps(const uint8_t *heights, int size) {
    int signs = 0;
    for (int k = 0; k < size - 1; k++) signs |= (heights[k + 1] < heights[k]) << k;
    return signs;
}

/* The bits of one full grid: seat 0 agrees so often, and the other seat may do so at most so much less often. */
static void write_bits(const prediction *task, const uint64_t (*at_most)[BITS / 64], int across, value *bits) {
    uint64_t words[WORDS_OF_BITS] = {0};
    for (int k = 0; k < task->in_chunk; k++) {
        int most = agreements(task, task->chunk[k], across) - task->threshold;
        if (most < 0) continue;
        const uint64_t *found = at_most[most < task->steps ? most : task->steps];
        int bit = k * task->lists;
        if (task->lists < 64) words[bit / 64] |= found[0] << bit % 64;
        else memcpy(words + bit / 64, found, (size_t)task->lists / 8);
    }
    memcpy(bits, words, sizeof words);
}

/* For each sequence of steps of seat 1, and each number, the set of lists that agree with it at most so often. */
typedef uint64_t at_most_table[1 << (MAX_PREDICTED - 1)][MAX_PREDICTED][BITS / 64];

static void prepare_at_most(const prediction *task, at_most_table table) {
    memset(table, 0, sizeof(at_most_table));
    for (int signs = 0; signs < task->lists; signs++)
        for (int list = 0; list < task->lists; list++)
            for (int most = agreements(task, list, signs); most <= task->steps; most++)
                flip(table[signs][most], list);
}

static void write_ends(prediction *task, const at_most_table table) {
    uint8_t heights[MAX_SOLVED], places[MAX_SOLVED];
    value *bits = task->full;
    int size = task->rules->size;
    for (int column = 0; column < size; column++) heights[column] = (uint8_t)column;
    do {
        for (int column = 0; column < size; column++) places[heights[column]] = (uint8_t)column;
        write_bits(task, table[signs_of_steps(places, size)], signs_of_steps(heights, size), bits++);
    } while (next_permutation(heights, size));
}

/* Keep what was found of a list of seat 0, with all of seat 1, and of those that are the same turned over. */
static void keep_row(prediction *task, int mine, const uint64_t *found, int first_bit) {
    for (int theirs = 0; theirs < task->lists; theirs++) {
        uint8_t is_reached = (uint8_t)has(found, first_bit + theirs);
        for (int turn = 0; turn < 4; turn++) {
            int lists[2] = {mine, theirs};
            for (int seat = 0; seat < 2; seat++) {
                if (turn & 1) lists[seat] = turned(task, lists[seat], seat, 0);
                if (turn & 2) lists[seat] = turned(task, lists[seat], seat, 1);
            }
            task->reached[lists[0] * task->lists + lists[1]] = is_reached;
        }
    }
}

static int solve_chunk(prediction *task, const at_most_table table, job *found) {
    value first, after_first[MAX_SOLVED * MAX_SOLVED];
    uint64_t words[WORDS_OF_BITS];
    int64_t states = found->states, edges = found->edges, pairs = (int64_t)task->in_chunk * task->lists;
    write_ends(task, table);
    found->states += states_of_level(task->rules->size, task->rules->size);
    int code = go_back(&task->all, task->seats, &task->full, &task->other, after_first, &first, found);
    if (code != SOLVED) return code;
    found->states = states + (found->states - states) * pairs;
    found->edges = edges + (found->edges - edges) * pairs;
    memcpy(words, &first, sizeof words);
    for (int k = 0; k < task->in_chunk; k++) keep_row(task, task->chunk[k], words, k * task->lists);
    return SOLVED;
}

/* Look at all lists of seat 0, as many at a time as there are bits for. */
static int solve_grids(prediction *task, const at_most_table table, job *found) {
    int code = SOLVED, room = BITS / task->lists;
    task->in_chunk = 0;
    for (int list = 0; list < task->lists && code == SOLVED; list++) {
        if (is_smallest(task, list)) task->chunk[task->in_chunk++] = list;
        int is_last = list == task->lists - 1;
        if (task->in_chunk == room || (is_last && task->in_chunk)) {
            code = solve_chunk(task, table, found);
            task->in_chunk = 0;
        }
    }
    return code;
}

/* Whether seat 0 reaches the threshold when so many signs stand; seat 0 appends first, then in turn (rule 1). */
static int is_reached_from(const prediction *task, int signs, int mine, int theirs) {
    if (signs == 2 * task->steps) return task->reached[mine * task->lists + theirs];
    int place = signs / 2, plus, minus;
    if (signs % 2 == 0) {
        plus = is_reached_from(task, signs + 1, mine, theirs);
        return plus || is_reached_from(task, signs + 1, mine | 1 << place, theirs);
    }
    plus = is_reached_from(task, signs + 1, mine, theirs);
    minus = plus && is_reached_from(task, signs + 1, mine, theirs | 1 << place);
    return minus;
}

/* Whether seat 0 reaches a margin; if so, its best first signs. Returns a code; *is_reached is the answer. */
static int try_margin(prediction *task, const at_most_table table, int margin, job *found, int *is_reached) {
    uint8_t best[SIGNS];
    task->threshold = margin;
    int code = solve_grids(task, table, found);
    if (code != SOLVED) return code;
    for (int sign = 0; sign < SIGNS; sign++) best[sign] = (uint8_t)is_reached_from(task, 1, sign, 0);
    *is_reached = best[0] || best[1];
    if (*is_reached) memcpy(found->best, best, sizeof best);
    return SOLVED;
}

/* Margins near 0 are tried first. What is reached at the end has just been tried, or was before one that is not. */
static int find_margin(prediction *task, const at_most_table table, job *found) {
    int margin = 0, is_reached = 0;
    int code = try_margin(task, table, margin, found, &is_reached);
    while (code == SOLVED && !is_reached && margin > -task->steps)
        code = try_margin(task, table, --margin, found, &is_reached);
    if (margin == 0)
        while (code == SOLVED && is_reached && margin < task->steps) {
            code = try_margin(task, table, margin + 1, found, &is_reached);
            margin += is_reached;
        }
    found->margin = margin;
    found->outcome = sign_of(margin);
    return code;
}

static void prepare_prediction(prediction *task, const game *rules) {
    state now;
    undo back;
    memset(task, 0, sizeof *task);
    task->rules = rules;
    task->steps = rules->size - 1;
    task->lists = 1 << task->steps;
    prepare_lattice(&task->all, rules->size);
    start(rules, &now);
    while (is_predicting(rules, &now)) make(rules, &now, 0, &back);
    for (int marks = 0; marks < rules->size; marks++) {
        task->seats[marks] = seat_to_act(rules, &now);
        make(rules, &now, nth_action(rules, &now, 0), &back);
    }
}

static int solve(const game *rules, job *found) {
    prediction *task = malloc(sizeof *task);
    uint64_t(*table)[MAX_PREDICTED][BITS / 64] = malloc(sizeof(at_most_table));
    int code = NO_MEMORY;
    if (task && table) {
        prepare_prediction(task, rules);
        prepare_at_most(task, table);
        task->reached = malloc((size_t)task->lists * (size_t)task->lists);
        if (allocate_levels(rules->size, &task->full, &task->other) && task->reached)
            code = find_margin(task, table, found);
        forget_lattice(&task->all);
        free(task->full);
        free(task->other);
        free(task->reached);
    }
    free(task);
    free(table);
    return code;
}
