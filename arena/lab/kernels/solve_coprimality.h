/* Solves coprimality for two by a depth-first search of each grid, which ends at the first win of the seat to act. What a
 * grid is worth follows from what the next one is worth, and that of the last from the draw after it. */

static int solvable(const game *rules) { return rules->players == 2; }

static int64_t solver_bytes(const game *rules) {
    (void)rules;
    return (int64_t)(sizeof(state) + sizeof(undo));
}

/* Not known before; the grid alone has few. */
static int64_t solver_states(const game *rules) {
    (void)rules;
    return 0;
}

typedef struct {
    const game *rules;
    state now;
    int32_t grids_used;   /* before the grid that is searched */
    int after_grid;       /* the outcome when nobody can go on in it */
    job *found;
} grid_search;

/* The outcome for seat 0, as the seats can force it; any while the search is to stop. */
static int outcome_from(grid_search *task) {
    state *now = &task->now;
    undo back;
    if (now->out) return now->eliminated[0] == 0 ? -1 : 1;
    if (now->grids_used > task->grids_used) return task->after_grid;
    if ((task->found->states++ & 0xFFF) == 0 && *task->found->stop) return 0;
    int seat = now->seat, wish = seat == 0 ? 1 : -1, best = -wish, choices = now->choices;
    for (int n = 0; n < choices && best != wish; n++) {
        make(task->rules, now, nth_action(task->rules, now, n), &back);
        int outcome = outcome_from(task);
        unmake(task->rules, now, &back);
        task->found->edges++;
        if (outcome * wish > best * wish) best = outcome;
    }
    return best;
}

/* The outcome of the grid after so many, if the one after it has an outcome. */
static int grid_outcome(grid_search *task, int after_grid) {
    start(task->rules, &task->now);
    task->grids_used = task->now.grids_used = 0;
    task->after_grid = after_grid;
    return outcome_from(task);
}

static void find_best(grid_search *task, int outcome) {
    undo back;
    start(task->rules, &task->now);
    int seat = task->now.seat;
    for (int n = 0; n < task->now.choices; n++) {
        int action = nth_action(task->rules, &task->now, n);
        make(task->rules, &task->now, action, &back);
        int after = outcome_from(task);
        unmake(task->rules, &task->now, &back);
        task->found->best[action] = seat == 0 ? after >= outcome : after <= outcome;
    }
}

/* A grid is worth the same whichever it is, given the outcome after it: at most three are searched. */
static int solve(const game *rules, job *found) {
    int known[3] = {2, 2, 2}, outcome = 0, after = 0;
    grid_search *task = malloc(sizeof *task);
    if (!task) return NO_MEMORY;
    task->rules = rules;
    task->found = found;
    for (int grid = 0; grid < rules->max_grids && !*found->stop; grid++) {
        after = outcome;
        if (known[after + 1] == 2) known[after + 1] = grid_outcome(task, after);
        outcome = known[after + 1];
    }
    task->after_grid = after;
    find_best(task, outcome);
    free(task);
    if (*found->stop) return STOPPED;
    found->outcome = outcome;
    found->margin = outcome;
    return SOLVED;
}
