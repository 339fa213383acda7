/* Random playouts of coprimality on small boards, where no prime above 100 divides two numbers. A square knows how many
 * numbers are beside it, so that an action looks at four squares only. */
#define HAS_OWN_PLAYOUTS

enum { MAX_SMALL = 14, ROW = 16, CELLS = ROW * ROW, TAKEN = 16 };

typedef struct {
    uint8_t beside[CELLS];      /* numbers; one more on the border, TAKEN more with a number, on the frame */
    uint32_t factors[CELLS];    /* of the number, or 0 */
} board;

static int plays_fast(const game *rules) { return rules->size <= MAX_SMALL; }

/* The square of an action or of a state on this board. */
static int64_t cell_of(const game *rules, int square) { return square / rules->stride * ROW + square % rules->stride; }

static inline void put_number(const game *rules, board *all, int64_t cell, int number) {
    all->factors[cell] = rules->small[number];
    all->beside[cell] += TAKEN;
    all->beside[cell - 1]++;
    all->beside[cell - ROW]++;
    all->beside[cell + ROW]++;
    all->beside[cell + 1]++;
}

static void copy_board(const game *rules, const state *from, board *to) {
    memset(to, 0, sizeof *to);
    memset(to->beside, TAKEN, sizeof to->beside);
    for (int action = 0; action < rules->size * rules->size; action++)
        to->beside[cell_of(rules, rules->squares[action])] = rules->kinds[rules->squares[action]] == BORDER;
    for (int action = 0; action < rules->size * rules->size; action++) {
        int number = number_on(from, rules->squares[action]);
        if (number) put_number(rules, to, cell_of(rules, rules->squares[action]), number);
    }
}

static inline unsigned is_free(const board *all, int64_t cell) { return (uint8_t)(all->beside[cell] - 2) < TAKEN - 2; }

static inline uint32_t factors_around(const board *all, int64_t cell) {
    return all->factors[cell - 1] | all->factors[cell - ROW] | all->factors[cell + ROW] | all->factors[cell + 1];
}

/* The legal ones of the four directions, as bits (rule 3). */
static inline unsigned free_directions(const board *all, int64_t cell) {
    return is_free(all, cell - 1) | is_free(all, cell - ROW) << 1 | is_free(all, cell + ROW) << 2 |
           is_free(all, cell + 1) << 3;
}

/* Play from a state to the end; see state. Returns the plies. */
static int64_t play_out(const game *rules, const board *from, const board *empty, int number, uint64_t generator,
                        state *now) {
    board all = *from;
    int64_t cell = cell_of(rules, now->here), length = 0;
    int turn = now->turn;
    while (!is_over(rules, now)) {
        unsigned bits = free_directions(&all, cell);
        if (!bits) {
            if (++now->grids_used == rules->max_grids) break;
            all = *empty;
            cell = cell_of(rules, rules->corner);
            number = turn = 1;
            now->seat = __builtin_ctzll(now->left);
            continue;
        }
        int is_fatal, ends_turn;
        do {
            generator += GOLDEN;
            if (bits & (bits - 1)) {   /* nine of ten actions are forced */
                uint64_t before = generator - GOLDEN;
                bits = (unsigned)nth_bit(bits, random_below(&before, __builtin_popcount(bits)));
            }
            if (bits == 1) cell -= 1;   /* a table of steps would wait for bits, while branches can be predicted */
            else if (bits == 2) cell -= ROW;
            else if (bits == 4) cell += ROW;
            else cell += 1;
            number++;
            length++;
            is_fatal = (factors_around(&all, cell) & rules->small[number]) != 0;
            ends_turn = number == rules->primes[turn];
            turn += ends_turn;
            put_number(rules, &all, cell, number);
            bits = free_directions(&all, cell);
        } while (!is_fatal && !ends_turn && bits);
        if (is_fatal) {
            now->eliminated[now->out++] = (uint8_t)now->seat;
            now->left ^= (uint64_t)1 << now->seat;
        }
        if (is_fatal || ends_turn) end_turn(now);
    }
    return length;
}

/* As kernel_playouts. */
static int64_t play_fast(const game *rules, const state *from, uint64_t seed, uint64_t first, int64_t count,
                         int64_t *ranked, double *score_sums, int64_t *plies) {
    double totals[MAX_PLAYERS];
    int32_t ranks[MAX_PLAYERS];
    board begin, empty;
    state now;
    start(rules, &now);
    copy_board(rules, &now, &empty);
    copy_board(rules, from, &begin);
    for (int64_t played = 0; played < count; played++) {
        memcpy(&now, from, offsetof(state, cells));   /* the rest stays in begin */
        *plies += play_out(rules, &begin, &empty, number_on(from, from->here),
                           generator_of(seed, first + (uint64_t)played), &now);
        scores(rules, &now, totals);
        rank(totals, rules->players, 0, ranks);
        for (int seat = 0; seat < rules->players; seat++) {
            ranked[seat * rules->players + ranks[seat] - 1]++;
            score_sums[seat] += totals[seat];
        }
    }
    return count;
}
