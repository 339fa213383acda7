/* Values of the first state with best play of both seats. A game that can be solved defines
 *
 *   int solvable(const game *)                         whether this solver can take these options at all
 *   int64_t solver_bytes(const game *)                 the memory that it takes
 *   int solve(const game *, job *)                     fills value and best of the job; SOLVED, STOPPED or NO_MEMORY
 *
 * and includes this file before, and solve_exports.h after its solver.
 */
#ifndef SOLVING_H
#define SOLVING_H

enum { SOLVED, STOPPED, NO_MEMORY };

typedef int32_t (*decider)(const int32_t *packed, int32_t count);

typedef struct {
    const volatile int32_t *stop;  /* not 0: end soon */
    decider decide;                /* the outcome for seat 0, 1, 0 or -1, of an end whose scores are too near to say */
    int32_t outcome;               /* of the first state, for seat 0: 1, 0 or -1 */
    int64_t margin;                /* in parts of a point, whose number is solver_parts */
    int64_t states, edges;         /* looked at */
    uint8_t *best;                 /* of each action of the space: whether it is a best first one */
} job;

static inline int sign_of(int64_t number) { return (number > 0) - (number < 0); }

#endif
