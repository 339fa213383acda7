/* Solves plaid on small sheets, and the last lines on large ones: values of all sets of lines that can still be drawn,
 * from the largest that can be reached back to none. For two, a value is outcome and margin; else see share_plaid.h.
 *
 * The lines that are not drawn in the first state, the root, are counted from 0. The sets of so many of them are numbered
 * in numerical order: the number of one is the sum over its lines, in ascending order, of how many sets of as many lines
 * there are below each.
 */
#include "sheets.h"

static const double PARTS = 1e9;                      /* of a point, in a margin */
static const int64_t OUTCOME = (int64_t)1 << 61;      /* is worth more than any margin */

static int solvable(const game *rules) {
    return rules->players == 2 && values_kept(rules->existing, most_lines(rules)) < MOST_SETS;
}

static int64_t solver_bytes(const game *rules) {
    return bytes_in_turns(rules, rules->existing, most_lines(rules));
}

static int64_t solver_states(const game *rules) { return (int64_t)sets_up_to(rules->existing, most_lines(rules)); }

/* The value of a sheet that has ended (rule 5): the rectangles of the two seats take turns. */
static int64_t value_of_end(const sheet *all, const int *lines, int upright, int level) {
    rectangles end;
    find_rectangles(all->rules, lines, upright, level, &end);
    double margin = 0, total = 0, sign = 1;
    for (int row = end.rows - 1; row >= 0; row--) {
        const double *of_row = all->diagonals + end.heights[row] * (all->rules->width + 1);
        for (int column = 0; column < end.columns; column++, sign = -sign) {
            margin += sign * of_row[end.widths[column]];
            total += of_row[end.widths[column]];
        }
    }
    int64_t parts = llround(margin * PARTS);
    if (fabs(margin) > fmax(NEAR_TIE, total * end.rows * end.columns * 0x1p-52))
        return sign_of(parts) * OUTCOME + parts;
    if (is_tie(all, &end, 0, 1)) return 0;
    return all->found->decide(lines, upright + level) * OUTCOME + parts;
}

#include "share_plaid.h"

/* The best of the values after each line that can be drawn. Lines above the new one move up by a place in their set. */
static int64_t best_after(const sheet *all, const int *set, int members, const int64_t *after) {
    int players = all->rules->players, drawn = all->in_root + members, place = 0;
    int seat = all->found->in_pairs ? seat_in_pairs(0, drawn) : drawn % players;
    int64_t best = players > 2 ? NONE : seat == 0 ? INT64_MIN : INT64_MAX, below = 0, above = 0;
    for (int k = 0; k < members; k++) above += choose(all, set[k], k + 2);
    for (int line = 0; line < all->free; line++) {
        if (place < members && set[place] == line) {
            place++;
            above -= choose(all, line, place + 1);
            below += choose(all, line, place);
            continue;
        }
        int64_t found = after[below + choose(all, line, place + 1) + above];
        if (players > 2) best = better_shares(best, found, players, seat);
        else best = (seat == 0 ? found > best : found < best) ? found : best;
    }
    all->found->edges += all->free - members;
    return best;
}

/* The next set of as many members, in ascending order. */
static void next_set(int *set, int members) {
    int k = 0;
    for (; k + 1 < members && set[k] + 1 == set[k + 1]; k++) set[k] = k;
    set[k]++;
}

/* Fill the level of so many lines more than the root has from the next one. */
static int fill_level(const sheet *all, int members, int64_t *before, const int64_t *after) {
    int64_t count = choose(all, all->free, members);
    int set[MAX_LINES + 1], lines[MAX_LINES];
    for (int k = 0; k < members; k++) set[k] = k;
    for (int64_t number = 0; number < count; number++) {
        if ((number & 0xFFFF) == 0 && ends_early(all->found)) return STOPPED;
        int upright = merge_lines(all, set, members, lines), level = all->in_root + members - upright;
        if (has_ended(all->rules, upright, level))
            before[number] = (all->rules->players > 2 ? points_of_end : value_of_end)(all, lines, upright, level);
        else before[number] = members == all->most ? 0 : best_after(all, set, members, after);
        next_set(set, members);
    }
    all->found->states += count;
    return SOLVED;
}

/* Levels may take turns in memory. */
static int fill_levels(const sheet *all, int64_t *const *levels) {
    for (int members = all->most; members >= 0; members--) {
        int code = fill_level(all, members, levels[members], members < all->most ? levels[members + 1] : NULL);
        if (code != SOLVED) return code;
    }
    return SOLVED;
}

static worth worth_of(int64_t value) {
    int outcome = sign_of(value) * (llabs(value) > OUTCOME / 2);
    return (worth){outcome, value - outcome * OUTCOME};
}

/* Fill levels of which only two are in memory; the first and the second one are to be freed. */
static int fill_in_turns(const sheet *all, int64_t **levels) {
    int64_t most[2] = {0, 0};
    for (int members = 0; members <= all->most; members++)
        most[members % 2] = LARGER(most[members % 2], choose(all, all->free, members));
    for (int members = 0; members <= all->most; members++)
        levels[members] = members < 2 ? malloc((size_t)most[members] * sizeof(int64_t)) : levels[members - 2];
    return levels[0] && levels[1] ? fill_levels(all, levels) : NO_MEMORY;
}

static int solve_levels(const sheet *all, int64_t **levels, job *found) {
    int code = fill_in_turns(all, levels);
    if (code != SOLVED) return code;
    worth first = worth_of(levels[0][0]);
    found->outcome = (int32_t)first.outcome;
    found->margin = first.margin;
    for (int line = 0; line < all->free; line++) found->best[line] = levels[1][line] == levels[0][0];
    return SOLVED;
}

static int solve(const game *rules, job *found) {
    int64_t *levels[MAX_LINES + 1] = {NULL, NULL};
    state root;
    start(rules, &root);
    sheet *all = sheet_from(rules, &root, found);
    int code = all ? solve_levels(all, levels, found) : NO_MEMORY;
    free(levels[0]);
    free(levels[1]);
    forget_sheet(all);
    return code;
}

static int plan_table(const game *rules, const state *root, table_plan *plan) {
    int drawn = root->upright + root->level;
    double sets = sets_up_to(rules->existing - drawn, most_lines(rules) - drawn);
    if (rules->players != 2 || sets >= MOST_SETS) return 0;
    plan->states = (int64_t)sets;
    plan->bytes = plan->states * (int64_t)sizeof(int64_t);
    plan->work_bytes = sheet_bytes(rules, rules->existing - drawn, most_lines(rules) - drawn);
    return 1;
}

/* A table has the levels one after the other, that of the root first. */
static int fill_table(const game *rules, const state *root, void *values, job *task) {
    int64_t *levels[MAX_LINES + 1], *next = values;
    sheet *all = sheet_from(rules, root, task);
    if (!all) return NO_MEMORY;
    for (int members = 0; members <= all->most; members++) {
        levels[members] = next;
        next += choose(all, all->free, members);
    }
    int code = fill_levels(all, levels);
    forget_sheet(all);
    return code;
}

/* The number of the set of lines that a state has more than the root, among the sets of all sizes up to it. */
static int64_t place_in_table(const game *rules, const state *root, const state *now) {
    int64_t number = 0;
    int members = 0, free_lines = 0;
    for (int line = 0; line < rules->existing; line++) {
        if (!has(root->undrawn, line)) continue;
        if (!has(now->undrawn, line)) number += (int64_t)sets_of(free_lines, ++members);
        free_lines++;
    }
    return members ? number + (int64_t)sets_up_to(free_lines, members - 1) : number;
}

static int look_up(const game *rules, const state *root, const void *values, const state *now, job *task, worth *found) {
    const int64_t *all = values;
    (void)task;
    if (!root) return NOT_THERE;
    for (int line = 0; line < rules->existing; line++)
        if (!has(root->undrawn, line) && has(now->undrawn, line)) return NOT_THERE;
    state after = *now;
    undo back;
    int count = count_actions(rules, now);
    for (int n = 0; n < count; n++) {
        make(rules, &after, nth_action(rules, now, n), &back);
        found[n] = worth_of(all[place_in_table(rules, root, &after)]);
        unmake(rules, &after, &back);
    }
    return SOLVED;
}

static int plan_shares(const game *rules, const state *now, table_plan *plan) {
    int drawn = now->upright + now->level, most = most_lines(rules) - drawn, free_lines = rules->existing - drawn;
    if (rules->players > MOST_SHARING || values_kept(free_lines, most) >= MOST_SETS) return 0;
    plan->states = (int64_t)sets_up_to(free_lines, most);
    plan->work_bytes = bytes_in_turns(rules, free_lines, most);
    return 1;
}

static int look_up_shares(const game *rules, const state *now, job *found, share *shares) {
    int64_t *levels[MAX_LINES + 1] = {NULL, NULL};
    sheet *all = sheet_from(rules, now, found);
    int code = all ? fill_in_turns(all, levels) : NO_MEMORY;
    if (code == SOLVED)
        for (int line = 0; line < all->free; line++) unpack_share(levels[1][line], rules->players, &shares[line]);
    free(levels[0]);
    free(levels[1]);
    forget_sheet(all);
    return code;
}
