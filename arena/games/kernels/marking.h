/* Values of the states in which a permutation game is marked, where each full grid has a margin. Before this file, a game
 * includes levels.h with a type of integers, and defines write_ends(const game *, const state *root, const lattice *,
 * VALUE *, job *), which writes the margins of all full grids that can follow from the root, in lexicographic order, and
 * returns SOLVED, STOPPED or NO_MEMORY.
 */

/* The seat that acts with so many more marks than the root has. */
static void find_seats(const game *rules, const state *root, const job *task, int *seats) {
    state now = *root;
    undo back;
    for (int marks = 0; now.marks.empty; marks++) {
        seats[marks] = task->in_pairs && marks ? seat_in_pairs(seats[0], marks) : seat_to_act(rules, &now);
        make(rules, &now, nth_action(rules, &now, 0), &back);
    }
}

/* Fill all levels above a root. */
static int fill_levels(const game *rules, const state *root, VALUE *const *levels, job *task) {
    int seats[MAX_SOLVED];
    lattice *all = malloc(sizeof *all);
    if (!all) return NO_MEMORY;
    prepare_lattice(all, &root->marks);
    find_seats(rules, root, task, seats);
    int code = write_ends(rules, root, all, levels[all->size], task);
    if (code == SOLVED) code = OF(go_back)(all, seats, levels, task);
    forget_lattice(all);
    free(all);
    return code;
}

static int plan_marking(const state *root, table_plan *plan) {
    int size = root->marks.empty;
    if (size == 0 || size > MAX_SOLVED) return 0;
    plan->states = states_of_size(size);
    plan->bytes = plan->states * (int64_t)sizeof(VALUE);
    plan->work_bytes = insertion_bytes(size);
    return 1;
}

/* A table has the levels one after the other, that of the root first. */
static int fill_marking(const game *rules, const state *root, VALUE *values, job *task) {
    VALUE *levels[MAX_SOLVED + 1];
    for (int marks = 0; marks <= root->marks.empty; marks++) {
        levels[marks] = values;
        values += states_of_level(root->marks.empty, marks);
    }
    return fill_levels(rules, root, levels, task);
}

static int look_up_marking(const game *rules, const state *root, const VALUE *values, const state *now, worth *found) {
    state after = *now;
    undo back;
    lattice all;
    if (!root || !is_within(&root->marks, &now->marks)) return NOT_THERE;
    prepare_lattice(&all, &root->marks);
    for (int marks = 0; marks <= root->marks.empty - now->marks.empty; marks++)
        values += states_of_level(all.size, marks);
    int count = count_actions(rules, now);
    for (int n = 0; n < count; n++) {
        make(rules, &after, nth_action(rules, now, n), &back);
        found[n] = worth_of_margin(values[number_in_level(&all, &after.marks)]);
        unmake(rules, &after, &back);
    }
    return SOLVED;
}
