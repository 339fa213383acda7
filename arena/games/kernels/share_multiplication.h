/* What each seat gets in multiplication for three and more, by a search of the numbering when few marks are left: the ranks
 * depend on what was scored before. */
#define SEARCHES_SHARES
#include "sharing.h"

enum { MOST_SEARCHED = 10 };

static int plan_shares(const game *rules, const state *now, table_plan *plan) {
    if (!now->numbered || rules->size - now->numbered > MOST_SEARCHED) return 0;
    plan->states = plan->bytes = 0;
    plan->work_bytes = (int64_t)sizeof(share_search);
    return 1;
}

static int known_points(const share_search *task, int seat, points *found) {
    double totals[MAX_PLAYERS];
    int32_t ranks[MAX_PLAYERS];
    (void)seat;
    if (task->now.numbered < task->rules.size) return 0;
    scores(&task->rules, &task->now, totals);
    rank(totals, task->rules.players, 0, ranks);
    points_of_ranks(ranks, task->rules.players, found);
    return 1;
}

static int look_up_shares(const game *rules, const state *now, job *found, share *shares) {
    share_search *task = share_search_from(rules, now, found);
    if (!task) return NO_MEMORY;
    int code = search_shares(task, shares);
    free(task);
    return code;
}
