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
    task->found->states++;
    if (*task->found->stop) return 0;
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

/* The outcome of the first grid, if the one after it has an outcome. */
static int grid_outcome(grid_search *task, int after_grid) {
    start(task->rules, &task->now);
    task->grids_used = 0;
    task->after_grid = after_grid;
    return outcome_from(task);
}

/* Seat 0 acts first (rule 1). */
static void find_best(grid_search *task, int outcome) {
    undo back;
    start(task->rules, &task->now);
    for (int n = 0; n < task->now.choices; n++) {
        int action = nth_action(task->rules, &task->now, n);
        make(task->rules, &task->now, action, &back);
        task->found->best[action] = outcome_from(task) >= outcome;
        unmake(task->rules, &task->now, &back);
    }
}

/* The outcome of the first of so many grids, all empty: none is worth a draw. A better outcome after a grid makes that of
 * the grid no worse, so a grid that is won, or lost, before a draw is so before a won, or lost, one as well: any number of
 * grids is worth the same as one. */
static int outcome_of_grids(grid_search *task, int grids) { return grids > 0 ? grid_outcome(task, 0) : 0; }

static int solve(const game *rules, job *found) {
    grid_search *task = malloc(sizeof *task);
    if (!task) return NO_MEMORY;
    task->rules = rules;
    task->found = found;
    int after = outcome_of_grids(task, rules->max_grids - 1);
    found->outcome = grid_outcome(task, after);
    found->margin = found->outcome;
    find_best(task, found->outcome);
    free(task);
    return *found->stop ? STOPPED : SOLVED;
}

/* There are no tables: a search is done soon enough. */
static int plan_table(const game *rules, const state *root, table_plan *plan) {
    (void)rules, (void)root, (void)plan;
    return 0;
}

static int fill_table(const game *rules, const state *root, void *values, job *task) {
    (void)rules, (void)root, (void)values, (void)task;
    return NOT_THERE;
}

static int look_up(const game *rules, const state *root, const void *values, const state *now, job *task, worth *found) {
    (void)root, (void)values;
    if (!solvable(rules)) return NOT_THERE;
    grid_search *search = malloc(sizeof *search);
    if (!search) return NO_MEMORY;
    search->rules = rules;
    search->found = task;
    int after_grid = outcome_of_grids(search, rules->max_grids - now->grids_used - 1);
    copy_state(rules, &search->now, now);
    search->grids_used = now->grids_used;
    search->after_grid = after_grid;
    for (int n = 0; n < now->choices; n++) {
        undo back;
        make(rules, &search->now, nth_action(rules, now, n), &back);
        found[n] = worth_of_margin(outcome_from(search));
        unmake(rules, &search->now, &back);
    }
    free(search);
    return *task->stop ? STOPPED : SOLVED;
}
