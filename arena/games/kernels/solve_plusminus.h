/* Solves plusminus: for a threshold, one bit for each pair of lists that says whether seat 0 reaches that margin; OR and
 * AND over the levels of partial permutations, BITS pairs at a time; then the lists themselves. With both lists complete,
 * one pair is left, and levels have margins.
 *
 * Turning the grid over changes the signs of one seat's steps, and signs and direction of the other's. So four pairs of
 * lists are worth the same, and the lists of seat 0 that are the smallest of their four are enough.
 */

enum { BITS = 256, WORDS_OF_BITS = BITS / 64, MAX_PREDICTED = 9 };

typedef uint64_t bits __attribute__((vector_size(BITS / 8)));

#define VALUE bits
#define OF(name) name##_of_bits
#define NOTHING_0 ((bits){0})
#define NOTHING_1 (~(bits){0})
#define FOR_SEAT_0(one, other) ((one) | (other))
#define FOR_SEAT_1(one, other) ((one) & (other))
#include "levels.h"
#undef VALUE
#undef OF
#undef NOTHING_0
#undef NOTHING_1
#undef FOR_SEAT_0
#undef FOR_SEAT_1

#include "byte_marking.h"

typedef struct {
    const game *rules;
    lattice all;
    int steps;                  /* signs in a list */
    int lists;                  /* 2^steps */
    int threshold;
    int seats[MAX_SOLVED];
    bits *levels[MAX_SOLVED + 1];
    int8_t *margins;            /* of each pair of lists, list of seat 0 first: at least so much */
    int chunk[BITS], in_chunk;  /* the lists of seat 0 that are looked at together */
    int reached;                /* how many of their pairs reach the threshold */
} prediction;

static int solvable(const game *rules) { return rules->size <= MAX_PREDICTED; }

static int64_t pairs_of_lists(const game *rules) { return (int64_t)1 << (2 * rules->size - 2); }

static int64_t solver_bytes(const game *rules) {
    return bytes_of_levels_of_bits(rules->size) + pairs_of_lists(rules);
}

static int64_t solver_states(const game *rules) {
    return pairs_of_lists(rules) - 1 + pairs_of_lists(rules) * states_of_size(rules->size);
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
static void write_bits(const prediction *task, const uint64_t (*at_most)[BITS / 64], int across, bits *end) {
    uint64_t words[WORDS_OF_BITS] = {0};
    for (int k = 0; k < task->in_chunk; k++) {
        int most = agreements(task, task->chunk[k], across) - task->threshold;
        if (most < 0) continue;
        const uint64_t *found = at_most[most < task->steps ? most : task->steps];
        int bit = k * task->lists;
        if (task->lists < 64) words[bit / 64] |= found[0] << bit % 64;
        else memcpy(words + bit / 64, found, (size_t)task->lists / 8);
    }
    memcpy(end, words, sizeof words);
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

static void write_ends_of_pairs(prediction *task, const at_most_table table) {
    uint8_t heights[MAX_SOLVED], places[MAX_SOLVED];
    int size = task->rules->size;
    bits *end = task->levels[size];
    for (int column = 0; column < size; column++) heights[column] = (uint8_t)column;
    do {
        for (int column = 0; column < size; column++) places[heights[column]] = (uint8_t)column;
        write_bits(task, table[signs_of_steps(places, size)], signs_of_steps(heights, size), end++);
    } while (next_permutation(heights, size));
}

/* Keep which pairs of a list of seat 0 reach the threshold, and those that are the same turned over. */
static void keep_row(prediction *task, int mine, const uint64_t *found, int first_bit) {
    for (int theirs = 0; theirs < task->lists; theirs++) {
        if (!has(found, first_bit + theirs)) continue;
        task->reached++;
        for (int turn = 0; turn < 4; turn++) {
            int lists[2] = {mine, theirs};
            for (int seat = 0; seat < 2; seat++) {
                if (turn & 1) lists[seat] = turned(task, lists[seat], seat, 0);
                if (turn & 2) lists[seat] = turned(task, lists[seat], seat, 1);
            }
            int8_t *margin = &task->margins[lists[0] * task->lists + lists[1]];
            if (*margin < task->threshold) *margin = (int8_t)task->threshold;
        }
    }
}

static int solve_chunk(prediction *task, const at_most_table table, job *found) {
    uint64_t words[WORDS_OF_BITS];
    int64_t states = found->states, edges = found->edges, pairs = (int64_t)task->in_chunk * task->lists;
    write_ends_of_pairs(task, table);
    found->states += states_of_level(task->rules->size, task->rules->size);
    int code = go_back_of_bits(&task->all, task->seats, task->levels, found);
    if (code != SOLVED) return code;
    found->states = states + (found->states - states) * pairs;
    found->edges = edges + (found->edges - edges) * pairs;
    memcpy(words, task->levels[0], sizeof words);
    task->reached = 0;
    for (int k = 0; k < task->in_chunk; k++) keep_row(task, task->chunk[k], words, k * task->lists);
    return SOLVED;
}

/* Find the margins of a chunk: those near 0 are tried first. */
static int find_margins_of_chunk(prediction *task, const at_most_table table, job *found) {
    int pairs = task->in_chunk * task->lists;
    task->threshold = 0;
    int code = solve_chunk(task, table, found), not_negative = task->reached;
    while (code == SOLVED && task->reached && task->threshold < task->steps) {
        task->threshold++;
        code = solve_chunk(task, table, found);
    }
    task->threshold = 0;
    task->reached = not_negative;
    while (code == SOLVED && task->reached < pairs && task->threshold > 1 - task->steps) {
        task->threshold--;
        code = solve_chunk(task, table, found);
    }
    return code;
}

typedef int (*chunk_solver)(prediction *, const at_most_table, job *);

/* Look at all lists of seat 0, as many at a time as there are bits for. */
static int for_each_chunk(chunk_solver solve_one, prediction *task, const at_most_table table, job *found) {
    int code = SOLVED, room = BITS / task->lists;
    task->in_chunk = 0;
    for (int list = 0; list < task->lists && code == SOLVED; list++) {
        if (is_smallest(task, list)) task->chunk[task->in_chunk++] = list;
        int is_last = list == task->lists - 1;
        if (task->in_chunk == room || (is_last && task->in_chunk)) {
            code = solve_one(task, table, found);
            task->in_chunk = 0;
        }
    }
    return code;
}

/* The margin when so many signs stand, by those of the pairs of lists; seat 0 appends first, then in turn (rule 1). */
static int margin_from(const prediction *task, int signs, int mine, int theirs) {
    if (signs == 2 * task->steps) return task->margins[mine * task->lists + theirs];
    int minus = 1 << signs / 2, is_mine = signs % 2 == 0;
    int with_plus = margin_from(task, signs + 1, mine, theirs);
    int with_minus = margin_from(task, signs + 1, mine | (is_mine ? minus : 0), theirs | (is_mine ? 0 : minus));
    return is_mine ? LARGER(with_plus, with_minus) : SMALLER(with_plus, with_minus);
}

/* Whether seat 0 reaches a margin; if so, its best first signs. Returns a code; *is_reached is the answer. */
static int try_margin(prediction *task, const at_most_table table, int margin, job *found, int *is_reached) {
    uint8_t best[SIGNS];
    task->threshold = margin;
    int code = for_each_chunk(solve_chunk, task, table, found);
    if (code != SOLVED) return code;
    for (int sign = 0; sign < SIGNS; sign++) best[sign] = margin_from(task, 1, sign, 0) >= margin;
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

static void prepare_prediction(prediction *task, const game *rules, const job *found) {
    state now;
    undo back;
    memset(task, 0, sizeof *task);
    task->rules = rules;
    task->steps = rules->size - 1;
    task->lists = 1 << task->steps;
    start(rules, &now);
    while (is_predicting(rules, &now)) make(rules, &now, 0, &back);
    prepare_lattice(&task->all, &now.marks);
    find_seats(rules, &now, found, task->seats);
}

static int find_all_margins(prediction *task, const at_most_table table, job *found) {
    return for_each_chunk(find_margins_of_chunk, task, table, found);
}

/* Find what is wanted, with room for the margins of all pairs of lists, of which nothing is known yet. */
static int predict(const game *rules, chunk_solver find, int8_t *margins, job *found) {
    prediction *task = malloc(sizeof *task);
    uint64_t(*table)[MAX_PREDICTED][BITS / 64] = malloc(sizeof(at_most_table));
    int code = NO_MEMORY;
    if (task && table && margins) {
        prepare_prediction(task, rules, found);
        prepare_at_most(task, table);
        task->margins = margins;
        memset(margins, -task->steps, (size_t)task->lists * (size_t)task->lists);
        if (allocate_levels_of_bits(rules->size, task->levels)) code = find(task, table, found);
        forget_lattice(&task->all);
        free(task->levels[0]);
        free(task->levels[1]);
    }
    free(task);
    free(table);
    return code;
}

static int solve(const game *rules, job *found) {
    int8_t *margins = malloc((size_t)pairs_of_lists(rules));
    int code = predict(rules, find_margin, margins, found);
    free(margins);
    return code;
}

/* A table of all pairs of lists, if the root has no signs yet; if it has all, one of its grids. */
static int plan_table(const game *rules, const state *root, table_plan *plan) {
    if (!is_predicting(rules, root)) return plan_marking(root, plan);
    if (root->signs || !solvable(rules)) return 0;
    plan->states = plan->bytes = pairs_of_lists(rules);
    plan->work_bytes = bytes_of_levels_of_bits(rules->size) + (int64_t)sizeof(at_most_table);
    return 1;
}

static int fill_table(const game *rules, const state *root, void *values, job *task) {
    if (root->signs) return fill_marking(rules, root, values, task);
    return predict(rules, find_all_margins, values, task);
}

static int look_up_signs(const game *rules, const int8_t *margins, const state *now, worth *found) {
    prediction task = {.steps = rules->size - 1, .lists = 1 << (rules->size - 1), .margins = (int8_t *)margins};
    for (int sign = 0; sign < SIGNS; sign++) {
        int lists[2] = {(int)now->minus[0][0], (int)now->minus[1][0]};
        lists[now->signs % 2] |= sign << now->signs / 2;
        found[sign] = worth_of_margin(margin_from(&task, now->signs + 1, lists[0], lists[1]));
    }
    return SOLVED;
}

static int look_up(const game *rules, const state *root, const void *values, const state *now, job *task, worth *found) {
    (void)task;
    if (!root) return NOT_THERE;
    if (is_predicting(rules, now)) return root->signs ? NOT_THERE : look_up_signs(rules, values, now, found);
    if (!root->signs || memcmp(root->minus, now->minus, sizeof now->minus) != 0) return NOT_THERE;
    return look_up_marking(rules, root, values, now, found);
}
