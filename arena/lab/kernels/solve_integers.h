/* Solves a permutation game whose state in the marking is the grid alone, and whose full grids have a margin each. Before
 * this file, a game defines write_ends(const game *, value *, job *), which writes those of all full grids in
 * lexicographic order, and returns SOLVED, STOPPED or NO_MEMORY.
 */

static int solvable(const game *rules) { return rules->players == 2 && rules->size <= MAX_SOLVED; }

static int64_t solver_bytes(const game *rules) { return level_bytes(rules->size); }

/* The seat that acts with so many marks. */
static void find_seats(const game *rules, int *seats) {
    state now;
    undo back;
    start(rules, &now);
    for (int marks = 0; marks < rules->size; marks++) {
        seats[marks] = seat_to_act(rules, &now);
        make(rules, &now, nth_action(rules, &now, 0), &back);
    }
}

static int solve(const game *rules, job *task) {
    value *full, *other, after_first[MAX_SOLVED * MAX_SOLVED], first = 0;
    int seats[MAX_SOLVED];
    lattice all;
    prepare_lattice(&all, rules->size);
    find_seats(rules, seats);
    int code = allocate_levels(rules->size, &full, &other) ? write_ends(rules, full, task) : NO_MEMORY;
    if (code == SOLVED) code = go_back(&all, seats, &full, &other, after_first, &first, task);
    free(full);
    free(other);
    forget_lattice(&all);
    if (code != SOLVED) return code;
    task->margin = first;
    task->outcome = sign_of(first);
    for (int square = 0; square < rules->size * rules->size; square++) task->best[square] = after_first[square] == first;
    return SOLVED;
}
