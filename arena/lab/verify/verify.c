/* Checks a certificate of `arena lab prove` and prints what it proves, by the format in README.md beside it.
 *     cc -O2 -o verify verify.c -lm && ./verify FILE [GAME]
 * The exit code is 0 if all claims hold, 1 if one does not, and 2 if the file is no certificate of the game. */
#include <math.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLUSMINUS, PLAID, COPRIMALITY, DIFFERENCES, MULTIPLICATION, GAMES };
enum { NONE = -(1 << 30), MAX_SIDE = 64, MAX_SQUARE = 2 * MAX_SIDE * MAX_SIDE };
enum { MAX_BYTES = 1 << 28, MAX_CELLS = 42 * 42, MAX_LISTED = 256, LINES = 4, FOLLOWED = 400 };

static const struct { const char *name, *options[3]; int low[3], high[3]; char lines[LINES][16]; } games[] = {
    {"plusminus", {"size", "grid_first", 0}, {2, 1, 0}, {12, 2, 0}, {"copied-signs"}},
    {"plaid", {"width", "height", "lines"}, {1, 1, 1}, {MAX_SIDE, MAX_SIDE, 2 * MAX_SIDE - 2}, {"reflection", "lead"}},
    {"coprimality", {"size", "max_grids", 0}, {3, 1, 0}, {40, 20, 0}, {"safe", "way", "choice", "inside"}},
    {"differences", {"size", "once", 0}, {2, 0, 0}, {12, 1, 0}, {"transposition"}},
    {"multiplication", {"size", "second_starts", 0}, {7, 0, 0}, {13, 1, 0}, {""}},
};

/* The cells are heights, then signs or columns in the order of their actions; or lines; or numbers, with -1 around. */
typedef struct { int16_t count, here, seat, out, grids, cell[MAX_CELLS]; } state;
typedef struct { int listed, good; int16_t list[MAX_LISTED]; state now; } frame;

static int game, option[3], n, cells, plies, search_from, unread, mine, bound, refused = 2, list[LINES], list_length;
static int factor[MAX_SQUARE + 1], radical[MAX_SQUARE + 1];
static size_t used_bytes, states;
static void *seen;
static FILE *certificate;
static frame *frames;

#define refuse(...) (fputs("refused: ", stderr), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(refused))

static void *got(void *found) {
    if (!found) refuse("there is not enough memory");
    return found;
}
static int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }
static int least(int a, int b) { return a < b ? a : b; }
static int step(int k) { return (k % 3 ? 1 : n + 2) * (k < 2 ? -1 : 1); }
static int is_over(const state *s) {
    int columns = 1;
    if (game == COPRIMALITY) return s->out || s->grids >= option[1];
    if (game != PLAID) return s->count == plies;
    for (int x = 0; x < option[0] - 1; x++) columns += s->cell[x];
    return s->count >= option[2] && columns * (s->count - columns + 2) % 2 == 0;
}
static int seat_to_act(const state *s) {
    if (game == PLUSMINUS && s->count >= 2 * n - 2) return (option[1] - 1 + s->count) % 2;
    if (game == MULTIPLICATION && s->count >= n) return (s->count - n + option[1]) % 2;
    return game == COPRIMALITY ? s->seat : s->count % 2;
}
static int list_steps(const state *s, int16_t *list) {
    int count = 0;
    for (int k = 0; k < 4; k++) {
        int to = s->here + step(k), held = 0;
        for (int j = 0; j < 4 && !s->cell[to]; j++) held += s->cell[to + step(j)] < 0 ? 2 : s->cell[to + step(j)] > 0;
        if (held > 1) list[count++] = (int16_t)to;
    }
    return count;
}

/* The legal actions of a state that is not over, in their order; the signs are n * n and n * n + 1. */
static int list_actions(const state *s, int16_t *list) {
    int k = 0, numbered = 1, rows = 0;
    if (game == COPRIMALITY) return list_steps(s, list);
    for (int line = 0; line < cells && game == PLAID; line++)
        if (!s->cell[line]) list[k++] = (int16_t)line;
    if (game == PLAID) return k;
    if (game == PLUSMINUS && s->count < 2 * n - 2) {
        list[k++] = (int16_t)(n * n), list[k++] = (int16_t)(n * n + 1);
    } else if (game == MULTIPLICATION && s->count >= n) {
        for (int j = n; j < s->count; j++) numbered |= 1 << s->cell[j];
        for (int x = 0; x < n; x++)
            if (!(numbered >> x & 1)) list[k++] = (int16_t)(x * n + s->cell[x] - 1);
    } else {
        for (int x = 0; x < n; x++) rows |= 1 << s->cell[x];
        for (int square = 0; square < n * n; square++)
            if (!s->cell[square / n] && !(rows >> (square % n + 1) & 1)) list[k++] = (int16_t)square;
    }
    return k;
}
static void start(state *s) {
    memset(s, 0, used_bytes);
    for (int k = 0, w = n + 2; k < w * w && game == COPRIMALITY; k++)
        if (k < w || k >= w * (n + 1) || k % w % (n + 1) == 0) s->cell[k] = -1;
    if (game == COPRIMALITY) s->here = (int16_t)(2 * n + 2), s->cell[s->here] = 1;
}
/* A turn ends with a prime. */
static void write_number(state *s, int square) {
    int number = s->cell[s->here] + 1, d = 2;
    int16_t any[4], grids = (int16_t)(s->grids + 1);
    s->count = 0, s->here = (int16_t)square, s->cell[square] = (int16_t)number;
    while (number % d) d++;
    for (int k = 0; k < 4; k++) {
        int other = s->cell[square + step(k)];
        if (other > 0 && gcd(number, other) > 1) s->out = (int16_t)(s->seat + 1);
    }
    if (d == number) s->seat = (int16_t)(1 - s->seat);
    if (s->out || list_steps(s, any)) return;
    if (grids < option[1]) start(s);
    s->grids = grids;
}
static void after(int depth, int action) {
    state *s = &frames[depth + 1].now;
    memcpy(s, &frames[depth].now, used_bytes), s->count++;
    if (game == COPRIMALITY) write_number(s, action);
    else if (game == PLAID) s->cell[action] = 1;
    else if (action >= n * n) s->cell[n + s->count - 1] = (int16_t)(action - n * n + 1);
    else if (game == MULTIPLICATION && s->count > n) s->cell[s->count - 1] = (int16_t)(action / n);
    else s->cell[action / n] = (int16_t)(action % n + 1);
}
/* What seat 0 leads by. Roots of different numbers without square factors can't cancel. */
static long double plaid_lead(const state *s) {
    static int sums[MAX_SQUARE + 1], touched[MAX_SIDE * MAX_SIDE];
    int wide[MAX_SIDE], high[MAX_SIDE], columns = 0, rows = 0, from = 0, is_zero = 1;
    long double sum = 0;
    for (int x = 1; x <= option[0]; x++)
        if (x == option[0] || s->cell[x - 1]) wide[columns++] = x - from, from = x;
    from = option[1];
    for (int y = option[1] - 1; y >= 0; y--)
        if (y == 0 || s->cell[option[0] - 2 + y]) high[rows++] = from - y, from = y;
    for (int k = 0; k < rows * columns; k++) {
        int square = wide[k % columns] * wide[k % columns] + high[k / columns] * high[k / columns];
        sums[touched[k] = radical[square]] += k % 2 ? -factor[square] : factor[square];
    }
    for (int k = 0; k < rows * columns; sums[touched[k++]] = 0)
        is_zero &= !sums[touched[k]], sum += sums[touched[k]] * sqrtl((long double)touched[k]);
    if (!is_zero && fabsl(sum) < 1e-12L) refuse("two sums of roots are too close to compare");
    return is_zero ? 0 : sum;
}
/* What a list of steps scores: line[k] is where mark number k is. */
static int line_score(const state *s, const int *line, int seat) {
    int score = 0, agreed = 0, times[MAX_SIDE] = {0};
    for (int k = 0; k + 1 < n; k++) {
        times[abs(line[k + 1] - line[k])]++;
        agreed += game == PLUSMINUS && (line[k + 1] > line[k]) == (s->cell[n + 2 * k + seat] == 1);
    }
    for (int k = 1; k < n; k++) score += game == DIFFERENCES && option[1] ? times[k] == 1 : times[k] > 0;
    return game == PLUSMINUS ? agreed : score;
}
/* What seat 0 has at the end: its margin, in plaid 1, 0 or -1. */
static int result(const state *s) {
    int rows[MAX_SIDE], columns[MAX_SIDE], margin = 0, here = 0;
    if (game == PLAID) return (plaid_lead(s) > 0) - (plaid_lead(s) < 0);
    if (game == COPRIMALITY) return s->out == 0 ? 0 : s->out == 1 ? -1 : 1;
    for (int j = n; game == MULTIPLICATION && j < plies; j++) {
        int there = s->cell[j], jump = abs(there - here) * abs(s->cell[there] - s->cell[here]);
        margin += (j - n + option[1]) % 2 ? -jump : jump, here = there;
    }
    for (int x = 0; x < n; x++) rows[x] = s->cell[x], columns[s->cell[x] - 1] = x;
    return game == MULTIPLICATION ? margin : line_score(s, rows, 0) - line_score(s, columns, 1);
}
/* 2 if the lines that the rule counts are their own mirror image, and 1 more if their number is odd. */
static int reflection_value(const state *t) {
    int level = n % 2, from = level ? n - 2 : -1, side = option[level], count = 0, lonely = 0;
    for (int k = 1; k < side; k++) count += t->cell[from + k], lonely |= t->cell[from + k] && !t->cell[from + side - k];
    return 2 * !lonely + count % 2;
}
/* On the way along which one square is safe: 1 if the seat has a choice at its end, or goes out; -1 if the other. */
static int way_value(const state *t, int is_choice) {
    static state now, next;
    int16_t to[4], only = 0;
    memcpy(&now, t, used_bytes);
    for (int k = 0, safe; k < FOLLOWED && !is_over(&now); k++, write_number(&now, only)) {
        safe = 0;
        for (int count = list_steps(&now, to); count--;) {
            memcpy(&next, &now, used_bytes), write_number(&next, to[count]);
            if (!next.out) safe++, only = to[count];
        }
        if (safe != 1) return is_choice == (safe > 0) ? (now.seat == mine ? 1 : -1) : 0;
    }
    return 0;
}
/* How much a line of a list likes an action, which leads from s to t. */
static long double line_value(int line, int action, const state *s, const state *t) {
    int x = action / (n + 2), y = action % (n + 2);
    if (game == PLAID) return line == 0 ? reflection_value(t) : mine ? -plaid_lead(t) : plaid_lead(t);
    if (game == COPRIMALITY && line == 3) return least(least(x, n + 1 - x), least(y, n + 1 - y));
    if (game == COPRIMALITY) return line == 0 ? !t->out : line == 1 ? -way_value(t, 0) : way_value(t, 1);
    if (action >= n * n) return s->count % 2 && s->cell[n + s->count - 1] == action - n * n + 1;
    for (int k = 0; k < n; k++)
        if (t->cell[k] && t->cell[t->cell[k] - 1] != k + 1) return 0;
    return 1;
}
/* Leave those of the listed actions that the list likes best. */
static void narrow(int depth) {
    frame *f = &frames[depth];
    long double value, most = 0;
    for (int j = 0, left = 0; j < list_length; j++, f->listed = left, left = 0)
        for (int k = 0; k < f->listed; k++) {
            after(depth, f->list[k]), value = line_value(list[j], f->list[k], &f->now, &frames[depth + 1].now);
            if (!left || value > most + 1e-9L) most = value, left = 0;
            if (value > most - 1e-9L) f->list[left++] = f->list[k];
        }
}
static int compare(const void *a, const void *b) { return memcmp(a, b, used_bytes); }
static int was_seen(const state *s) {
    void *copy = memcpy(got(malloc(used_bytes)), s, used_bytes);
    if (*(void **)got(tsearch(copy, &seen, compare)) == copy) return states++, 0;
    return free(copy), 1;
}
/* Whether the seat can hold the bound, by trying the actions of both, first what was good in the state before. */
static int can_hold(int depth) {
    frame *f = &frames[depth];
    if (is_over(&f->now)) return (mine ? -result(&f->now) : result(&f->now)) >= bound;
    int is_mine = seat_to_act(&f->now) == mine;
    f->listed = list_actions(&f->now, f->list);
    for (int k = 0; k < f->listed; k++, f->good++)
        if (after(depth, f->list[f->good %= f->listed]), can_hold(depth + 1) == is_mine) return is_mine;
    return !is_mine;
}
static void take(const char *format, void *value) {
    if (fscanf(certificate, format, value) != 1) refuse("it lacks \"%s\"", format);
}
/* Follow the strategy against all actions of the other seat. */
static void follow(int depth) {
    frame *f = &frames[depth];
    int k = -1, is_last = is_over(&f->now) || (!list_length && plies - f->now.count <= search_from);
    if (was_seen(&f->now)) return;
    if (is_last && !can_hold(depth)) refuse("seat %d is said to hold %d, and does not", mine, bound);
    if (is_last) return;
    f->listed = list_actions(&f->now, f->list);
    if (seat_to_act(&f->now) == mine && !list_length) {
        if (unread-- > 0) take(" %d", &k);
        if (k < 0 || k >= f->listed) refuse("the strategy of seat %d lacks a legal action", mine);
        f->list[0] = f->list[k], f->listed = 1;
    } else if (seat_to_act(&f->now) == mine) narrow(depth);
    for (k = 0; k < f->listed; k++) after(depth, f->list[k]), follow(depth + 1);
}
static void read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char end[16], *found = got(malloc(MAX_BYTES + 1));
    uint32_t sum = ~0u;
    if (!file) fprintf(stderr, "%s can't be read\n", path), exit(2);
    size_t size = fread(found, 1, MAX_BYTES + 1, file);
    if (size > MAX_BYTES) refuse("it is larger than 256 MiB");
    if (size < 13 || memchr(found, 0, size)) refuse("it is not a certificate, or cut");
    for (size_t bit = 0; bit < 8 * (size - 13); bit++) {
        if (bit % 8 == 0) sum ^= (unsigned char)found[bit / 8];
        sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
    }
    snprintf(end, sizeof end, "end %08x\n", (unsigned)~sum);
    if (memcmp(found + size - 13, end, 13)) refuse("its checksum is another one: it was changed, or cut");
    certificate = got(fmemopen(found, size - 13, "r"));
}
static void read_head(const char *wanted) {
    int version = 0;
    char name[32], format[64];
    if (take("arena certificate %d", &version), version != 1) refuse("version %d is not known; expected 1", version);
    take(" game %31s", name);
    for (game = 0; game < GAMES && strcmp(games[game].name, name);) game++;
    if (game == GAMES || (wanted && strcmp(wanted, name))) refuse("it is for %s", name);
    for (int k = 0; k < 3 && games[game].options[k]; k++) {
        snprintf(format, sizeof format, " option %s %%d", games[game].options[k]);
        take(format, &option[k]);
        if (option[k] < games[game].low[k] || option[k] > games[game].high[k]) refuse("%s is out of bounds", format);
        printf("%s %s %d", k ? "," : name, games[game].options[k], option[k]);
    }
    take(" search %d", &search_from);
    const int per_size[GAMES] = {3, 0, 0, 1, 2}, all_plies[GAMES] = {-2, option[2], 1 << 30, 0, -1};
    n = option[0], plies = per_size[game] * n + all_plies[game];
    cells = game == PLAID ? n + option[1] - 2 : game == COPRIMALITY ? (n + 2) * (n + 2) : plies;
    int is_odd = game == PLAID ? n * option[1] % 2 || option[2] > cells : game == MULTIPLICATION && n % 2 == 0;
    if (is_odd) refuse("no such board");
    used_bytes = sizeof(state) - (MAX_CELLS - (size_t)cells) * sizeof(int16_t);
    frames = got(calloc((size_t)(game == COPRIMALITY ? option[1] * cells + 2 : cells + n + 2), sizeof *frames));
    for (int square = 1; square <= MAX_SQUARE; square++)
        for (int k = 1; k * k <= square; k++)
            if (square % (k * k) == 0) factor[square] = k, radical[square] = square / (k * k);
}

int main(int argc, char **arguments) {
    int most[2] = {NONE, NONE}, k;
    char rule[64], name[64];
    if (argc < 2 || argc > 3) fprintf(stderr, "usage: verify FILE [GAME]\n"), exit(2);
    read_file(arguments[1]);
    read_head(argc > 2 ? arguments[2] : NULL), refused = 1;
    while (fscanf(certificate, " seat %d", &mine) == 1) {
        take(" holds %d", &bound), take(" by %63s", rule);
        if (!strcmp(rule, "table")) take(" %d", &unread);
        list_length = 0, strcpy(name, strcmp(rule, "table") ? rule : "");
        for (char *line = strtok(name, ","); line; list[list_length++] = k, line = strtok(NULL, ",")) {
            for (k = 0; k < LINES && strcmp(games[game].lines[k], line);) k++;
            if (k == LINES || list_length == LINES) refuse("seat %d plays by %s", mine, rule);
        }
        if (mine < 0 || mine > 1) refuse("seat %d plays by %s", mine, rule);
        states = 0, seen = NULL, start(&frames[0].now), follow(0);
        if (!list_length && unread) refuse("the table of seat %d is too long", mine);
        printf("; seat %d holds %d by %s (%zu states)", mine, bound, rule, states);
        if (bound > most[mine]) most[mine] = bound;
    }
    if (!feof(certificate)) refuse("it lacks \" seat %%d\"");
    if (most[0] == NONE && most[1] == NONE) refuse("it claims nothing");
    if (most[0] == -most[1]) printf("\nproved: the value for seat 0 is exactly %d\n", most[0]);
    else printf("\nproved: the value for seat %d is at least %d\n", most[0] == NONE, most[most[0] == NONE]);
    return 0;
}
