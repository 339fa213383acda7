/* What each seat gets in plaid for three and more, by the same levels as the margin for two (solve_plaid.h). The value of a
 * set of lines has BITS bits for the points of each seat: first the shared ones of all seats, then the held ones. */
#include "sharing.h"

enum { MOST_SHARING = 8, BITS = 4 };   /* two times eight times four bits; seven rivals are worth 14 points */

static int points_at(int64_t packed, int place) { return (int)((uint64_t)packed >> (BITS * place) & 15); }

static int64_t packed_at(int found, int place) { return (int64_t)((uint64_t)found << (BITS * place)); }

/* The points that are shared at an end are also those that are held there. */
static int64_t both(int64_t shared, int players) { return (int64_t)((uint64_t)shared | (uint64_t)shared << (BITS * players)); }

/* The points of a sheet that has ended (rules 5 and 6). */
static int64_t points_of_end(const sheet *all, const int *lines, int upright, int level) {
    int players = all->rules->players, seat = 0;
    double totals[MOST_SHARING] = {0}, total = 0;
    rectangles end;
    find_rectangles(all->rules, lines, upright, level, &end);
    for (int row = end.rows - 1; row >= 0; row--) {
        const double *of_row = all->diagonals + end.heights[row] * (all->rules->width + 1);
        for (int column = 0; column < end.columns; column++) {
            totals[seat] += of_row[end.widths[column]];
            total += of_row[end.widths[column]];
            seat = seat + 1 == players ? 0 : seat + 1;
        }
    }
    double uncertainty = fmax(NEAR_TIE, total * end.rows * end.columns * 0x1p-52);
    int64_t packed = 0;
    for (int one = 0; one < players; one++)
        for (int other = 0; other < one; other++) {
            int first = totals[one] > totals[other] ? one : other;
            if (fabs(totals[one] - totals[other]) > uncertainty) packed += packed_at(2, first);
            else if (is_tie(all, &end, one, other)) packed += packed_at(1, one) + packed_at(1, other);
            else return both((int64_t)(uint32_t)all->found->decide(lines, upright + level), players);
        }
    return both(packed, players);
}

/* Take in what the seats get after one more action of the seat to act; best is what they get by those before, or NONE. */
static int64_t better_shares(int64_t best, int64_t found, int players, int seat) {
    if (best == NONE) return found;
    int64_t taken = points_at(found, seat) > points_at(best, seat) ? found : best;
    taken &= ((int64_t)1 << (BITS * players)) - 1;
    for (int mine = 0; mine < players; mine++) {
        int one = points_at(best, players + mine), other = points_at(found, players + mine);
        taken |= packed_at(mine == seat ? LARGER(one, other) : SMALLER(one, other), players + mine);
    }
    return taken;
}

static void unpack_share(int64_t packed, int players, share *found) {
    for (int seat = 0; seat < players; seat++) {
        found->shared.of[seat] = (uint8_t)points_at(packed, seat);
        found->held.of[seat] = (uint8_t)points_at(packed, players + seat);
    }
}
