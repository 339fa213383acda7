/* What all kernels share: random numbers, sets of bits, and ranks.
 *
 * A game is one C file with the types game, state and undo, and these functions:
 *
 *   int prepare(game *, const int32_t *options)                options in the order of the game's table; 0: refused
 *   void start(const game *, state *)                          the state before the first action
 *   void copy_state(const game *, state *to, const state *)    faster than the assignment of a whole state
 *   int seat_to_act(const game *, const state *)               -1 when the match is over
 *   int count_actions(const game *, const state *)             0 when the match is over
 *   int nth_action(const game *, const state *, int n)         the n-th legal action, in the order of the rules
 *   void make(const game *, state *, int action, undo *)       for a legal action only
 *   void unmake(const game *, state *, const undo *)           takes back the last action
 *   void scores(const game *, const state *, double *)
 *   double uncertainty(const game *, const state *, const double *)     scores that differ by no more may be equal
 *   int pack(const game *, const state *, int32_t *)           a state as numbers, see encoding.py; returns how many
 *   void unpack(const game *, state *, const int32_t *, int)   and back
 *
 * MAX_PACKED is the most numbers of a state. An action is its index in Game.space().actions. A solver includes the
 * game's file; what Python calls is in exports.h, which every game's file includes last.
 */
#ifndef COMMON_H
#define COMMON_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif

enum { MAX_PLAYERS = 64 };

/* SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */

static const uint64_t GOLDEN = 0x9E3779B97F4A7C15u;

/* Of a variable, which is a number or a vector of them. */
#define MIXED(bits)                                               \
    (bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u,          \
     bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu, bits ^ (bits >> 31))

static inline uint64_t mixed(uint64_t bits) { return MIXED(bits); }

/* The state of the generator of playout number index. */
static inline uint64_t generator_of(uint64_t seed, uint64_t index) {
    return mixed(mixed(seed + GOLDEN) + index);
}

/* A number from 0 to bound - 1; its bias, bound / 2^32, is far below what playouts can show. */
static inline int random_below(uint64_t *generator, int bound) {
    *generator += GOLDEN;
    return (int)(((mixed(*generator) >> 32) * (uint64_t)bound) >> 32);
}

/* Sets of small numbers: bit i of an array of words. */

static inline void flip(uint64_t *set, int member) { set[member >> 6] ^= (uint64_t)1 << (member & 63); }

static inline int has(const uint64_t *set, int member) { return (int)(set[member >> 6] >> (member & 63)) & 1; }

/* Make the set of the numbers from 0 to count - 1. */
static inline void fill(uint64_t *set, int words, int count) {
    memset(set, 0, (size_t)words * sizeof *set);
    for (int member = 0; member < count; member++) flip(set, member);
}

/* The n-th bit, from 0 and the lowest, of a word that has more than n. */
static inline uint64_t nth_bit(uint64_t word, int n) {
#ifdef __BMI2__
    return _pdep_u64((uint64_t)1 << n, word);
#else
    while (n--) word &= word - 1;
    return word & -word;
#endif
}

/* The n-th member, from 0, of a set that has more than n. There is no branch on n, which nothing could predict. */
static inline int nth_member(const uint64_t *set, int words, int n) {
    uint64_t word = set[0];
    int first = 0, before = 0;
    for (int next = 1, sum = 0; next < words; next++) {
        sum += __builtin_popcountll(set[next - 1]);
        word = sum <= n ? set[next] : word;
        first = sum <= n ? 64 * next : first;
        before = sum <= n ? sum : before;
    }
    return first + __builtin_ctzll(nth_bit(word, n - before));
}

/* Rank scores as the rules do: 1 is best, ties share a rank. Returns 0 if two scores are too near to say. */
static inline int rank(const double *scores, int players, double uncertainty, int32_t *ranks) {
    int decided = 1;
    for (int seat = 0; seat < players; seat++) {
        ranks[seat] = 1;
        for (int other = 0; other < players; other++) {
            ranks[seat] += scores[other] > scores[seat];
            if (uncertainty > 0 && other != seat && fabs(scores[other] - scores[seat]) <= uncertainty) decided = 0;
        }
    }
    return decided;
}

#endif
