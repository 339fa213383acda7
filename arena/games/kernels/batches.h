/* Random playouts of a permutation game of up to 16 rows, several at once. A batch has a lane of 64 bits for each, which is
 * a number, or a list of numbers of four bits each, the first in the lowest. gcc and clang keep a batch in one register and
 * compute all its lanes by one instruction.
 *
 * Each playout has the actions that kernel_trace has. A game that includes this file defines play_batch.
 */
#define HAS_OWN_PLAYOUTS

#if defined __AVX512F__
enum { AT_ONCE = 8 };
#elif defined __AVX2__
enum { AT_ONCE = 4 };
#else
enum { AT_ONCE = 2 };
#endif
enum { MOST_IN_BATCHES = 16 };   /* rows, and players */

typedef uint64_t batch __attribute__((vector_size(8 * AT_ONCE)));
typedef uint16_t parts __attribute__((vector_size(8 * AT_ONCE)));

#define ZEROS ((batch){0})

/* The product of numbers below 2^32: processors multiply these faster than all numbers. */
static inline batch product(batch one, batch other) {
#if defined __AVX512F__
    return (batch)_mm512_mul_epu32((__m512i)one, (__m512i)other);
#elif defined __AVX2__
    return (batch)_mm256_mul_epu32((__m256i)one, (__m256i)other);
#else
    return one * other;
#endif
}

/* A product below 2^16 of numbers below 2^16. */
static inline batch small_product(batch one, batch other) { return (batch)((parts)one * (parts)other); }

static inline batch random_bits(batch *generators) {
    *generators += GOLDEN;
    batch bits = *generators;
    return MIXED(bits);
}

static inline batch random_batch_below(batch *generators, uint64_t bound) {
    return product(random_bits(generators) >> 32, ZEROS + bound) >> 32;
}

static inline batch item_at(batch lists, batch place) { return lists >> (place << 2) & 15; }

/* Take the item at a place out of each list; those after it move up. */
static inline batch take_item(batch *lists, batch place) {
    batch shift = place << 2, before = ((ZEROS + 1) << shift) - 1, item = *lists >> shift & 15;
    *lists = (*lists & before) | (*lists >> 4 & ~before);
    return item;
}

/* The members of a set as a list. */
static inline uint64_t list_of(uint64_t set) {
    uint64_t list = 0;
    for (int shift = 0; set; set &= set - 1, shift += 4) list |= (uint64_t)__builtin_ctzll(set) << shift;
    return list;
}

static inline batch ones_in(batch bits) {
    batch ones;
    for (int lane = 0; lane < AT_ONCE; lane++) ones[lane] = (uint64_t)__builtin_popcountll(bits[lane]);
    return ones;
}

static inline batch distance(batch one, batch other) {
    batch difference = one - other, is_negative = ZEROS - (difference >> 63);
    return (difference ^ is_negative) - is_negative;
}

/* A grid with its free columns and rows as lists. */
typedef struct {
    int empty;
    uint64_t columns, rows, heights, places;
} packed_grid;

static packed_grid packed(const grid *from) {
    packed_grid all = {from->empty, list_of(from->columns[0]), list_of(from->rows[0]), 0, 0};
    for (int column = 0; column < from->size; column++) {
        if (has(from->columns, column)) continue;
        all.heights |= (uint64_t)from->heights[column] << (4 * column);
        all.places |= (uint64_t)column << (4 * from->heights[column]);
    }
    return all;
}

/* Full grids: the height in each column, and the column in each row. */
typedef struct {
    batch heights, places;
} full_grids;

/* Put marks on free squares until there are none. */
static inline full_grids fill_grids(const packed_grid *from, batch *generators) {
    full_grids all = {ZEROS + from->heights, ZEROS + from->places};
    batch columns = ZEROS + from->columns, rows = ZEROS + from->rows;
    for (unsigned empty = (unsigned)from->empty; empty; empty--) {
        batch square = random_batch_below(generators, empty * empty);
        batch nth_column = small_product(square, ZEROS + (4096 / empty + 1)) >> 12;   /* square / empty, up to 16 */
        batch nth_row = square - small_product(nth_column, ZEROS + empty);
        batch column = take_item(&columns, nth_column), row = take_item(&rows, nth_row);
        all.heights |= row << (column << 2);
        all.places |= column << (row << 2);
    }
    return all;
}

/* Play from a state to the end, write the scores of each seat, and return the plies. */
static int play_batch(const game *rules, const state *from, const packed_grid *marks, batch *generators, batch *totals);

static int plays_fast(const game *rules) {
    return rules->size <= MOST_IN_BATCHES && rules->players <= MOST_IN_BATCHES;
}

/* As kernel_playouts. Lanes beyond count are played, too, and not counted. */
static int64_t play_fast(const game *rules, const state *from, uint64_t seed, uint64_t first, int64_t count,
                         int64_t *ranked, double *score_sums, int64_t *plies) {
    const int players = rules->players;
    batch counts[MOST_IN_BATCHES * MOST_IN_BATCHES], sums[MOST_IN_BATCHES], totals[MOST_IN_BATCHES], lane, generators;
    const packed_grid marks = packed(&from->marks);
    for (int k = 0; k < AT_ONCE; k++) lane[k] = (uint64_t)k;
    for (int k = 0; k < players * players; k++) counts[k] = ZEROS;
    for (int seat = 0; seat < players; seat++) sums[seat] = ZEROS;
    for (int64_t played = 0; played < count; played += AT_ONCE) {
        generators = lane + (mixed(seed + GOLDEN) + first + (uint64_t)played);   /* see generator_of */
        generators = MIXED(generators);
        int length = play_batch(rules, from, &marks, &generators, totals);
        batch is_counted = (batch)(lane < (uint64_t)(count - played));
        *plies += length * (count - played < AT_ONCE ? count - played : AT_ONCE);
        for (int seat = 0; seat < players; seat++) {
            batch better = ZEROS;   /* how many seats are */
            for (int other = 0; other < players; other++) better -= (batch)(totals[other] > totals[seat]);
            for (uint64_t k = 0; k < (uint64_t)players; k++)
                counts[seat * players + (int)k] -= (batch)(better == k) & is_counted;
            sums[seat] += totals[seat] & is_counted;
        }
    }
    for (int k = 0; k < AT_ONCE; k++) {
        for (int cell = 0; cell < players * players; cell++) ranked[cell] += (int64_t)counts[cell][k];
        for (int seat = 0; seat < players; seat++) score_sums[seat] += (double)sums[seat][k];
    }
    return count;
}
