/* Solves a permutation game by the marking alone, whose first state has no marks; marking.h says what it needs. */

static int solvable(const game *rules) { return rules->players == 2 && rules->size <= MAX_SOLVED; }

static int64_t solver_bytes(const game *rules) { return OF(bytes_of_levels)(rules->size); }

static int solve(const game *rules, job *task) {
    VALUE *levels[MAX_SOLVED + 1];
    state root;
    start(rules, &root);
    int code = OF(allocate_levels)(rules->size, levels) ? fill_levels(rules, &root, levels, task) : NO_MEMORY;
    if (code == SOLVED) {
        task->margin = levels[0][0];
        task->outcome = sign_of(task->margin);
        for (int square = 0; square < rules->size * rules->size; square++)
            task->best[square] = levels[1][square] == levels[0][0];
    }
    free(levels[0]);
    free(levels[1]);
    return code;
}
