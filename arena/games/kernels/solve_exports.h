/* What Python calls to solve a game: loading.py has the same list. */

/* The states and the bytes that solving takes; 0 if this solver does not take these options. */
EXPORT int32_t solver_needs(const handle *kernel, int64_t *states_and_bytes) {
    if (!solvable(&kernel->rules)) return 0;
    states_and_bytes[0] = solver_states(&kernel->rules);
    states_and_bytes[1] = solver_bytes(&kernel->rules);
    return 1;
}

/* Solve the game from its first state. */
EXPORT int32_t solver_solve(const handle *kernel, job *task) { return solve(&kernel->rules, task); }

/* The states of a table of all that can follow from a handle's state, its bytes, and those that filling it takes besides;
 * 0 if there is none. */
EXPORT int32_t table_needs(const handle *root, int64_t *states_and_bytes) {
    table_plan plan = {0, 0, 0};
    if (seat_to_act(&root->rules, &root->now) < 0 || !plan_table(&root->rules, &root->now, &plan)) return 0;
    states_and_bytes[0] = plan.states;
    states_and_bytes[1] = plan.bytes;
    states_and_bytes[2] = plan.work_bytes;
    return 1;
}

/* Fill a table, of as many bytes as table_needs has said, from an address that eight divides. */
EXPORT int32_t table_fill(const handle *root, job *task, void *values) {
    return fill_table(&root->rules, &root->now, values, task);
}

/* Write outcome and margin after each legal action of a handle's state. Root and values are NULL without a table. */
EXPORT int32_t table_look_up(const handle *root, const void *values, const handle *kernel, job *task,
                             int64_t *outcomes_and_margins) {
    if (seat_to_act(&kernel->rules, &kernel->now) < 0) return NOT_THERE;
    const state *from = root ? &root->now : NULL;
    return look_up(&kernel->rules, from, values, &kernel->now, task, (worth *)outcomes_and_margins);
}

/* The states and the bytes that it takes to find what each seat gets after each legal action of a handle's state; 0 if this
 * solver does not find it. */
EXPORT int32_t shares_needs(const handle *kernel, int64_t *states_and_bytes) {
    table_plan plan = {0, 0, 0};
    if (seat_to_act(&kernel->rules, &kernel->now) < 0 || !plan_shares(&kernel->rules, &kernel->now, &plan)) return 0;
    states_and_bytes[0] = plan.states;
    states_and_bytes[1] = plan.work_bytes;
    return 1;
}

/* Find it. Writes the points of each seat, shared and then held, action after action. */
EXPORT int32_t shares_look_up(const handle *kernel, job *task, uint8_t *found) {
    table_plan plan = {0, 0, 0};
    int count = count_actions(&kernel->rules, &kernel->now), players = kernel->rules.players;
    if (!count || !plan_shares(&kernel->rules, &kernel->now, &plan)) return NOT_THERE;
    share *shares = calloc((size_t)count, sizeof *shares);
    if (!shares) return NO_MEMORY;
    int code = look_up_shares(&kernel->rules, &kernel->now, task, shares);
    for (int n = 0; n < count; n++) {
        for (int seat = 0; seat < players; seat++) *found++ = shares[n].shared.of[seat];
        for (int seat = 0; seat < players; seat++) *found++ = shares[n].held.of[seat];
    }
    free(shares);
    return code;
}
