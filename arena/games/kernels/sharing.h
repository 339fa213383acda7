/* What each seat gets in a game for three and more. Its points are two for each rival that it beats and one for each that
 * it ties with, so that those of all seats together are always as many.
 *
 *   shared   when every seat plays for its own points (max^n), and of equally good actions takes the one listed first
 *   held     when all others play together against it, for each seat
 *
 * A game for which they can be found defines
 *
 *   int plan_shares(const game *, const state *, table_plan *)                    0: they can't; no table is kept
 *   int look_up_shares(const game *, const state *, job *, share *)               after each legal action
 *
 * and, to find them by search_shares, a search of all lines of play,
 *
 *   int known_points(const share_search *, int seat, points *)   0: the seats go on; where seat is not ALL, its points only
 */
#ifndef SHARING_H
#define SHARING_H
#include "solving.h"

enum { ALL = -1, NONE = -1 };

typedef struct {
    uint8_t of[MAX_PLAYERS];
} points;

typedef struct {
    points shared, held;
} share;

typedef struct {
    game rules;
    state now;
    int grids_used;      /* before the grid that is searched */
    const share *after;  /* that grid, by how many seats are left, of each of these in their order */
    job *found;
} share_search;

/* The points of the seats that have these ranks. */
static inline void points_of_ranks(const int32_t *ranks, int players, points *found) {
    for (int seat = 0; seat < players; seat++) {
        int sum = -1;
        for (int other = 0; other < players; other++)
            sum += ranks[other] > ranks[seat] ? 2 : ranks[other] == ranks[seat];
        found->of[seat] = (uint8_t)sum;
    }
}

#ifdef SEARCHES_SHARES

static int known_points(const share_search *task, int seat, points *found);

static int is_stopped(const share_search *task) {
    task->found->states++;
    return *task->found->stop != 0;
}

/* Find what the seats get when every one plays for its own; anything while the search is to stop. The seat that acted
 * before has as many points already, by an action listed earlier, or NONE: a line of play that leaves it no more is not
 * looked at any further, since it won't choose it, and neither is one after the best that there can be (R. Korf,
 * "Multi-player alpha-beta pruning", Artificial Intelligence 48, 1991: shallow pruning). */
static void find_shared(share_search *task, int before, int already, points *found) {
    const game *rules = &task->rules;
    state *now = &task->now;
    if (known_points(task, ALL, found)) return;
    memset(found, 0, sizeof *found);
    if (is_stopped(task)) return;
    int rivals = rules->players - 1, seat = seat_to_act(rules, now), count = count_actions(rules, now), best = NONE;
    int enough = 2 * rivals;
    if (already != NONE && before != seat) enough = SMALLER(enough, rules->players * rivals - already);
    for (int n = 0; n < count && best < enough; n++) {
        points after;
        undo back;
        make(rules, now, nth_action(rules, now, n), &back);
        find_shared(task, seat, best, &after);
        unmake(rules, now, &back);
        task->found->edges++;
        if (after.of[seat] > best) best = after.of[seat], *found = after;
    }
}

/* What a seat can hold against all others, if it is more than low and less than high; else a bound of it. */
static int held_by(share_search *task, int mine, int low, int high) {
    const game *rules = &task->rules;
    state *now = &task->now;
    points known;
    if (known_points(task, mine, &known)) return known.of[mine];
    if (is_stopped(task)) return 0;
    int is_mine = seat_to_act(rules, now) == mine, count = count_actions(rules, now);
    for (int n = 0; n < count && low < high; n++) {
        undo back;
        make(rules, now, nth_action(rules, now, n), &back);
        int after = held_by(task, mine, low, high);
        unmake(rules, now, &back);
        task->found->edges++;
        if (is_mine) low = LARGER(low, after);
        else high = SMALLER(high, after);
    }
    return is_mine ? low : high;
}

static void find_share(share_search *task, share *found) {
    int players = task->rules.players;
    find_shared(task, NONE, NONE, &found->shared);
    for (int seat = 0; seat < players; seat++)
        found->held.of[seat] = (uint8_t)held_by(task, seat, 0, 2 * (players - 1));
}

static int search_shares(share_search *task, share *found) {
    int count = count_actions(&task->rules, &task->now);
    for (int n = 0; n < count; n++) {
        undo back;
        make(&task->rules, &task->now, nth_action(&task->rules, &task->now, n), &back);
        find_share(task, &found[n]);
        unmake(&task->rules, &task->now, &back);
    }
    return *task->found->stop ? STOPPED : SOLVED;
}

/* A search from a state; NULL without memory. */
static share_search *share_search_from(const game *rules, const state *now, job *found) {
    share_search *task = calloc(1, sizeof *task);
    if (!task) return NULL;
    task->rules = *rules;
    task->found = found;
    copy_state(rules, &task->now, now);
    return task;
}

#endif
#endif
