/* What each seat gets in coprimality for three and more, by a search of each grid. What a new grid is worth to the seats
 * that are left, in their order, depends only on how many they are and on how many grids there are after it. */
#define SEARCHES_SHARES
#include "sharing.h"

/* What grids are worth, by how many seats are left. */
typedef struct {
    share of[MAX_PLAYERS + 1];
} grids;

static int plan_shares(const game *rules, const state *now, table_plan *plan) {
    (void)now;
    plan->states = plan->bytes = 0;
    plan->work_bytes = (int64_t)sizeof(share_search) + (int64_t)rules->max_grids * (int64_t)sizeof(grids);
    return 1;
}

/* Rule 7: a seat that is out beats those that were out before it; the others beat all of them. */
static int known_points(const share_search *task, int seat, points *found) {
    const game *rules = &task->rules;
    const state *now = &task->now;
    int left = rules->players - now->out, order = 0;
    int is_out = seat != ALL && !(now->left >> seat & 1);
    if (left > 1 && now->grids_used == task->grids_used && !is_out) return 0;
    const share *after = &task->after[left];
    for (int k = 0; k < now->out; k++) found->of[now->eliminated[k]] = (uint8_t)(2 * k);
    for (int one = 0; one < rules->players; one++)
        if (now->left >> one & 1)
            found->of[one] = (uint8_t)(2 * now->out + (seat == ALL ? after->shared.of : after->held.of)[order++]);
    return 1;
}

/* When the grids are used up, the seats left tie. */
static void no_grids(int players, grids *all) {
    memset(all, 0, sizeof *all);
    for (int left = 1; left <= players; left++)
        for (int seat = 0; seat < left; seat++)
            all->of[left].shared.of[seat] = all->of[left].held.of[seat] = (uint8_t)(left - 1);
}

static void one_more_grid(share_search *task, const grids *after, grids *all) {
    int players = task->rules.players;
    memset(all, 0, sizeof *all);
    task->after = after->of;
    task->grids_used = 0;
    for (int left = 2; left <= players; left++) {
        share found;
        task->rules.players = left;
        start(&task->rules, &task->now);
        find_share(task, &found);
        memcpy(all->of[left].shared.of, found.shared.of, (size_t)left);  /* no more of it is written */
        memcpy(all->of[left].held.of, found.held.of, (size_t)left);
    }
    task->rules.players = players;
}

/* Fill what 0, 1, 2, … grids are worth. What one is worth follows from what the next ones are: once two of them are alike,
 * so are those before them. */
static void fill_grids(share_search *task, int count, grids *all) {
    int period = 0;
    no_grids(task->rules.players, all);
    for (int number = 1; number <= count && !*task->found->stop; number++) {
        if (period) {
            all[number] = all[number - period];
            continue;
        }
        one_more_grid(task, &all[number - 1], &all[number]);
        for (int other = 0; other < number && !period; other++)
            if (!memcmp(&all[other], &all[number], sizeof *all)) period = number - other;
    }
}

static int look_up_shares(const game *rules, const state *now, job *found, share *shares) {
    int left = rules->max_grids - now->grids_used - 1, code = NO_MEMORY;
    grids *all = malloc((size_t)(left + 1) * sizeof *all);
    share_search *task = share_search_from(rules, now, found);
    if (all && task) {
        fill_grids(task, left, all);
        copy_state(rules, &task->now, now);
        task->after = all[left].of;
        task->grids_used = now->grids_used;
        code = search_shares(task, shares);
    }
    free(task);
    free(all);
    return code;
}
