/* Coprimality; arena/games/coprimality.py has the rules, whose numbers are cited here. The board has a frame around it,
 * so that every square has four neighbours. */
#include "common.h"

enum { MAX_SIZE = 100, MAX_SQUARES = MAX_SIZE * MAX_SIZE, MAX_CELLS = (MAX_SIZE + 2) * (MAX_SIZE + 2) };
enum { FRAME, BORDER, INNER };
enum { NUMBER_BITS = 14, MAX_PRIMES = 1300, MAX_PACKED = MAX_SQUARES + 4 + MAX_PLAYERS };

typedef struct {
    int32_t players, size, max_grids;
    int32_t stride, corner;             /* from a row to the next; the upper left square */
    int32_t beside[4];                  /* from a square to those beside it, by column, then by row */
    uint16_t squares[MAX_SQUARES];      /* the square of each action */
    uint16_t actions[MAX_CELLS];        /* and back */
    uint8_t kinds[MAX_CELLS];
    int32_t primes[MAX_PRIMES];         /* the k-th at k, and 0 after the last that a board can hold */
    uint32_t small[MAX_SQUARES + 1];    /* the set of a number's prime factors below 100, of which there are 25 */
    uint16_t large[MAX_SQUARES + 1];    /* its prime factor above 100, of which it has one at most; or 0 */
} game;

typedef struct {
    int32_t here, turn, seat, out, grids_used;
    int32_t grid;                  /* which grid the cells are of: a cell of another one is empty */
    uint64_t left;                 /* the seats still in the game */
    int32_t choices, choice[4];    /* the legal squares */
    uint8_t eliminated[MAX_PLAYERS];
    int32_t cells[MAX_CELLS];      /* number + (grid << NUMBER_BITS) */
} state;

typedef struct {
    int32_t square, replaced, corner_replaced;
    int32_t here, turn, seat, out, grids_used, grid, choices, choice[4];
    uint64_t left;
} undo;

static int prepare(game *rules, const int32_t *options) {
    int size = rules->size = options[1];
    rules->players = options[0];
    rules->max_grids = options[2];
    if (size > MAX_SIZE || rules->players > MAX_PLAYERS) return 0;
    rules->stride = size + 2;
    rules->corner = size * rules->stride + 1;
    int32_t beside[4] = {-1, -rules->stride, rules->stride, 1};
    memcpy(rules->beside, beside, sizeof beside);
    memset(rules->kinds, FRAME, sizeof rules->kinds);
    for (int x = 1, action = 0; x <= size; x++) {
        for (int y = 1; y <= size; y++, action++) {
            int square = y * rules->stride + x;
            rules->kinds[square] = x == 1 || x == size || y == 1 || y == size ? BORDER : INNER;
            rules->squares[action] = (uint16_t)square;
            rules->actions[square] = (uint16_t)action;
        }
    }
    memset(rules->small, 0, sizeof rules->small);
    memset(rules->large, 0, sizeof rules->large);
    memset(rules->primes, 0, sizeof rules->primes);
    for (int number = 2, count = 0; number < size * size; number++) {
        if (rules->small[number] || rules->large[number]) continue;
        rules->primes[++count] = number;
        for (int multiple = number; multiple <= size * size; multiple += number) {
            if (number < 100) rules->small[multiple] |= (uint32_t)1 << count;
            else rules->large[multiple] = (uint16_t)number;
        }
    }
    return 1;
}

/* The number on a square, or 0. */
static inline int number_on(const state *now, int square) {
    uint32_t number = (uint32_t)(now->cells[square] ^ now->grid << NUMBER_BITS);
    return number >> NUMBER_BITS ? 0 : (int)number;
}

static inline void write_number(state *now, int square, int number) {
    now->cells[square] = number | now->grid << NUMBER_BITS;
}

/* Rules 5 and 6. */
static int is_over(const game *rules, const state *now) {
    return now->out >= rules->players - 1 || now->grids_used >= rules->max_grids;
}

/* Rule 3. */
static void find_choices(const game *rules, state *now) {
    now->choices = 0;
    for (int k = 0; k < 4; k++) {
        int square = now->here + rules->beside[k], kind = rules->kinds[square], numbers = 0;
        if (kind == FRAME || number_on(now, square)) continue;
        for (int j = 0; j < 4; j++) numbers += number_on(now, square + rules->beside[j]) != 0;
        if (kind == BORDER || numbers >= 2) now->choice[now->choices++] = square;
    }
}

/* Rules 1 and 6: the lowest seat left begins. */
static void begin_grid(const game *rules, state *now, int grid) {
    now->grid = grid;
    now->here = rules->corner;
    now->turn = 1;
    now->seat = __builtin_ctzll(now->left);
    write_number(now, rules->corner, 1);
    find_choices(rules, now);
}

static void start(const game *rules, state *now) {
    memset(now, 0, sizeof *now);
    memset(now->cells, -1, sizeof now->cells);
    now->left = rules->players == 64 ? ~(uint64_t)0 : ((uint64_t)1 << rules->players) - 1;
    begin_grid(rules, now, 0);
}

static void copy_state(const game *rules, state *to, const state *from) {
    memcpy(to, from, offsetof(state, cells) + (size_t)(rules->stride * rules->stride) * sizeof *to->cells);
}

static int seat_to_act(const game *rules, const state *now) { return is_over(rules, now) ? -1 : now->seat; }

static int count_actions(const game *rules, const state *now) { return is_over(rules, now) ? 0 : now->choices; }

static int nth_action(const game *rules, const state *now, int n) { return rules->actions[now->choice[n]]; }

/* Rule 4. */
static int shares_a_factor(const game *rules, const state *now, int square, int number) {
    for (int k = 0; k < 4; k++) {
        int other = number_on(now, square + rules->beside[k]);
        if (rules->small[number] & rules->small[other]) return 1;
        if (rules->large[number] && rules->large[number] == rules->large[other]) return 1;
    }
    return 0;
}

static void end_turn(state *now) {
    uint64_t above = now->left & ~(((uint64_t)2 << now->seat) - 1);
    now->seat = __builtin_ctzll(above ? above : now->left);
}

static void make(const game *rules, state *now, int action, undo *back) {
    int square = rules->squares[action];
    int number = number_on(now, now->here) + 1, ends_turn = number == rules->primes[now->turn];
    *back = (undo){square, now->cells[square], now->cells[rules->corner], now->here, now->turn, now->seat, now->out,
                   now->grids_used, now->grid, now->choices, {0}, now->left};
    memcpy(back->choice, now->choice, sizeof back->choice);
    write_number(now, square, number);
    now->here = square;
    now->turn += ends_turn;
    if (shares_a_factor(rules, now, square, number)) {
        now->eliminated[now->out++] = (uint8_t)now->seat;
        now->left ^= (uint64_t)1 << now->seat;
        ends_turn = 1;
    }
    if (ends_turn) end_turn(now);
    find_choices(rules, now);
    if (is_over(rules, now) || now->choices) return;
    now->grids_used++;
    if (!is_over(rules, now)) begin_grid(rules, now, now->grids_used);
}

static void unmake(const game *rules, state *now, const undo *back) {
    now->cells[rules->corner] = back->corner_replaced;
    now->cells[back->square] = back->replaced;
    now->here = back->here;
    now->turn = back->turn;
    now->seat = back->seat;
    now->out = back->out;
    now->grids_used = back->grids_used;
    now->grid = back->grid;
    now->choices = back->choices;
    memcpy(now->choice, back->choice, sizeof now->choice);
    now->left = back->left;
}

/* Rule 7. */
static void scores(const game *rules, const state *now, double *totals) {
    for (int seat = 0; seat < rules->players; seat++) totals[seat] = now->out;
    for (int k = 0; k < now->out; k++) totals[now->eliminated[k]] = k;
}

static double uncertainty(const game *rules, const state *now, const double *totals) {
    (void)rules, (void)now, (void)totals;
    return 0;
}

/* The numbers on the squares, in the order of the actions, and where the last one is; then the turn, the seat, the grids
 * used, and the seats eliminated. */
static int pack(const game *rules, const state *now, int32_t *numbers) {
    int count = rules->size * rules->size;
    for (int action = 0; action < count; action++) numbers[action] = number_on(now, rules->squares[action]);
    numbers[count++] = rules->actions[now->here];
    numbers[count++] = now->turn;
    numbers[count++] = now->seat;
    numbers[count++] = now->grids_used;
    for (int k = 0; k < now->out; k++) numbers[count++] = now->eliminated[k];
    return count;
}

static void unpack(const game *rules, state *now, const int32_t *numbers, int count) {
    int squares = rules->size * rules->size;
    start(rules, now);
    for (int action = 0; action < squares; action++)
        if (numbers[action]) write_number(now, rules->squares[action], numbers[action]);
    now->here = rules->squares[numbers[squares]];
    now->turn = numbers[squares + 1];
    now->seat = numbers[squares + 2];
    now->grids_used = numbers[squares + 3];
    for (int k = squares + 4; k < count; k++) {
        now->eliminated[now->out++] = (uint8_t)numbers[k];
        now->left ^= (uint64_t)1 << numbers[k];
    }
    find_choices(rules, now);
}

#include "play_coprimality.h"
#include "exports.h"
#include "slips.h"
#include "solving.h"
#include "solve_coprimality.h"
#include "share_coprimality.h"
#include "solve_exports.h"
