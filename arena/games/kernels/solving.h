/* What best play is worth. A game that can be solved defines, for its first state,
 *
 *   int solvable(const game *)                         whether this solver can take these options at all
 *   int64_t solver_states(const game *)                how many states it has; 0 if that is not known before
 *   int64_t solver_bytes(const game *)                 the memory that it takes
 *   int solve(const game *, job *)                     fills outcome, margin and best of the job
 *
 * and, for other states, a table of all that can follow from a state, its root:
 *
 *   int plan_table(const game *, const state *root, table_plan *)              0: there is none
 *   int fill_table(const game *, const state *root, void *values, job *)
 *   int look_up(const game *, const state *root, const void *values, const state *now, job *, worth *)
 *
 * look_up finds what the state after each legal action is worth, in a table, or without one where the root is NULL. All
 * but plan_table return SOLVED, STOPPED, NO_MEMORY or NOT_THERE. A game includes this file before, and solve_exports.h
 * after its solver.
 */
#ifndef SOLVING_H
#define SOLVING_H

enum { SOLVED, STOPPED, NO_MEMORY, NOT_THERE };

#define LARGER(one, other) ((one) > (other) ? (one) : (other))
#define SMALLER(one, other) ((one) < (other) ? (one) : (other))

typedef int32_t (*decider)(const int32_t *packed, int32_t count);

/* Python makes it, and reads what has been looked at while the call runs: solver.py has the same fields. */
typedef struct {
    const volatile int32_t *stop;  /* not 0: end soon, or wait */
    int32_t (*wait)(void);         /* waits until the call may continue: not 0; 0 if it is to end. NULL: end */
    decider decide;                /* the outcome for seat 0, 1, 0 or -1, of an end whose scores are too near to say;
                                      for three and more seats the points of all, see share_plaid.h */
    int32_t outcome;               /* of the first state, for seat 0: 1, 0 or -1 */
    int64_t margin;                /* in parts of a point, whose number is solver_parts */
    int64_t states, edges;         /* looked at */
    uint8_t *best;                 /* of each action of the space: whether it is a best first one; NULL but in solve */
    int32_t in_pairs;              /* not 0: of marks and lines the first seat makes one, then each seat two in turn */
} job;

static inline int ends_early(const job *task) { return *task->stop && !(task->wait && task->wait()); }

typedef struct {
    int64_t states;       /* that have a value in it */
    int64_t bytes;        /* of the values */
    int64_t work_bytes;   /* that filling it takes besides */
} table_plan;

typedef struct {
    int64_t outcome;   /* for seat 0: 1, 0 or -1 */
    int64_t margin;
} worth;

/* Which of two seats makes a mark or line, by how many came before, if they do so in pairs. */
static inline int seat_in_pairs(int first, int before) { return first ^ ((before + 1) / 2 % 2); }

static inline int sign_of(int64_t number) { return (number > 0) - (number < 0); }

static inline worth worth_of_margin(int64_t margin) { return (worth){sign_of(margin), margin}; }

#endif
