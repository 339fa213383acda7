/* What Python calls to solve a game: loading.py has the same list. */

/* The states and the bytes that solving takes; 0 if this solver does not take these options. */
EXPORT int32_t solver_needs(const handle *kernel, int64_t *states_and_bytes) {
    if (!solvable(&kernel->rules)) return 0;
    states_and_bytes[0] = solver_states(&kernel->rules);
    states_and_bytes[1] = solver_bytes(&kernel->rules);
    return 1;
}

/* Solve the game from its first state. Writes outcome, margin, states and edges; and of each action, whether it is a
 * best first one. */
EXPORT int32_t solver_solve(const handle *kernel, const int32_t *stop, decider decide, int64_t *found, uint8_t *best) {
    job task = {stop, decide, 0, 0, 0, 0, best};
    int code = solve(&kernel->rules, &task);
    found[0] = task.outcome;
    found[1] = task.margin;
    found[2] = task.states;
    found[3] = task.edges;
    return code;
}
