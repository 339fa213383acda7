/* Checks a certificate of `arena lab prove` and prints what it proves, by the format and the rules in README.md beside it.
 *     cc -O2 -o verify verify.c -lm && ./verify FILE [GAME]
 * The exit code is 0 if all claims hold, 1 if one does not, and 2 if the file is no certificate of the game. */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLUSMINUS, PLAID, COPRIMALITY, DIFFERENCES, MULTIPLICATION, GAMES };
enum { TRANSPOSITION, COPIED_SIGNS, REFLECTION, TABLE, STRATEGIES };
enum { NONE = -(1 << 30), MAX_SIDE = 64, MAX_SQUARE = 2 * MAX_SIDE * MAX_SIDE };
enum { MAX_BYTES = 1 << 28, MAX_CELLS = 1600, MAX_LISTED = 256 };

static const struct { const char *name, *options[3]; int low[3], high[3]; } games[] = {
    {"plusminus", {"size", "grid_first", 0}, {2, 1, 0}, {12, 2, 0}},
    {"plaid", {"width", "height", "lines"}, {1, 1, 1}, {MAX_SIDE, MAX_SIDE, 2 * MAX_SIDE - 2}},
    {"coprimality", {"size", "max_grids", 0}, {3, 1, 0}, {40, 20, 0}},
    {"differences", {"size", "once", 0}, {2, 0, 0}, {12, 1, 0}},
    {"multiplication", {"size", "second_starts", 0}, {7, 0, 0}, {13, 1, 0}},
};
static const char *const strategies[STRATEGIES] = {"transposition", "copied-signs", "reflection", "table"};

/* The cells are heights, then signs or columns in the order of their actions; or lines; or the numbers on a grid. */
typedef struct { int16_t count, here, seat, out, grids, cell[MAX_CELLS]; } state;
typedef struct { int listed, good; int16_t list[MAX_LISTED]; state now; } frame;

static int game, option[3], n, cells, plies, search_from, strategy, mine, bound, refused = 2;
static int factor[MAX_SQUARE + 1], radical[MAX_SQUARE + 1];
static long unread;
static size_t used_bytes, states, slots, *slot, room_bytes;
static char *text, *kept;
static frame *frames;

static void refuse(const char *format, ...) {
    va_list values;
    va_start(values, format), fputs("refused: ", stderr), vfprintf(stderr, format, values), fputc('\n', stderr);
    exit(refused);
}
static void *more(void *old, size_t bytes) {
    void *found = realloc(old, bytes);
    if (!found) refuse("there is not enough memory");
    return found;
}
static int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }
static int beside(int square, int *found) {
    int x = square / n, y = square % n, k = 0;
    if (x > 0) found[k++] = square - n;
    if (y > 0) found[k++] = square - 1;
    if (y < n - 1) found[k++] = square + 1;
    if (x < n - 1) found[k++] = square + n;
    return k;
}
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
    int to[4], around[4], k = 0, count = beside(s->here, to);
    for (int i = 0; i < count; i++) {
        int many = beside(to[i], around), numbers = 0;
        for (int j = 0; j < many; j++) numbers += s->cell[around[j]] > 0;
        if (!s->cell[to[i]] && (many < 4 || numbers >= 2)) list[k++] = (int16_t)to[i];
    }
    return k;
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
    if (game == COPRIMALITY) s->here = (int16_t)(n - 1), s->cell[s->here] = 1;
}
/* A turn ends with a prime. */
static void write_number(state *s, int square) {
    int near[4], count = beside(square, near), number = s->cell[s->here] + 1, d = 2;
    int16_t any[4], grids = (int16_t)(s->grids + 1);
    s->count = 0, s->here = (int16_t)square, s->cell[square] = (int16_t)number;
    while (number % d) d++;
    for (; count--;) s->out |= (int16_t)(s->cell[near[count]] && gcd(number, s->cell[near[count]]) > 1 ? s->seat + 1 : 0);
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
/* The sign of a sum of roots. Roots of different numbers without square factors can't cancel. */
static int plaid_sign(const state *s) {
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
    return is_zero ? 0 : sum > 0 ? 1 : -1;
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
    if (game == PLAID) return plaid_sign(s);
    if (game == COPRIMALITY) return s->out == 0 ? 0 : s->out == 1 ? -1 : 1;
    for (int j = n; game == MULTIPLICATION && j < plies; j++) {
        int there = s->cell[j], jump = abs(there - here) * abs(s->cell[there] - s->cell[here]);
        margin += (j - n + option[1]) % 2 ? -jump : jump, here = there;
    }
    for (int x = 0; x < n; x++) rows[x] = s->cell[x], columns[s->cell[x] - 1] = x;
    return game == MULTIPLICATION ? margin : line_score(s, rows, 0) - line_score(s, columns, 1);
}
/* The action of a rule; -1 without one. */
static int reply(const state *s, const int16_t *list, int listed) {
    int is_upright = option[0] % 2 == 0, side = option[!is_upright];
    int own = is_upright ? -1 : option[0] - 2, other = is_upright ? option[0] - 2 : -1;
    if (strategy == COPIED_SIGNS && s->count < 2 * n - 2) return n * n + s->cell[n + s->count - 1] - 1;
    if (strategy != REFLECTION) {
        for (int x = 0; x < n; x++)
            if (s->cell[x] && s->cell[s->cell[x] - 1] != x + 1) return (s->cell[x] - 1) * n + x;
        for (int k = 0; k < listed; k++)
            if (list[k] / n == list[k] % n) return list[k];
        return -1;
    }
    for (int k = 1; k < side; k++)
        if (s->cell[own + k] && !s->cell[own + side - k]) return own + side - k;
    if (side % 2 == 0 && !s->cell[own + side / 2]) return own + side / 2;
    for (int k = 1; k < option[is_upright]; k++)
        if (!s->cell[other + k]) return other + k;
    return -1;
}
static size_t slot_of(const void *bytes) {
    uint64_t hash = 14695981039346656037ull;
    for (size_t k = 0; k < used_bytes; k++) hash = (hash ^ ((const unsigned char *)bytes)[k]) * 1099511628211ull;
    size_t at = (hash ^ hash >> 29) & (slots - 1);
    while (slot[at] && memcmp(kept + (slot[at] - 1) * used_bytes, bytes, used_bytes)) at = (at + 1) & (slots - 1);
    return at;
}
static int was_seen(const state *s) {
    if (2 * states >= slots) {
        slots = slots ? 2 * slots : 1 << 16;
        slot = memset(more(slot, slots * sizeof *slot), 0, slots * sizeof *slot);
        for (size_t k = 0; k < states; k++) slot[slot_of(kept + k * used_bytes)] = k + 1;
    }
    size_t at = slot_of(s);
    if (slot[at]) return 1;
    if ((states + 1) * used_bytes > room_bytes) kept = more(kept, room_bytes = 2 * room_bytes + (1 << 20));
    memcpy(kept + states * used_bytes, s, used_bytes);
    slot[at] = ++states;
    return 0;
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
/* Follow the strategy against all actions of the other seat. */
static void follow(int depth) {
    frame *f = &frames[depth];
    int k = 0;
    if (was_seen(&f->now)) return;
    if (is_over(&f->now) || (strategy == TABLE && plies - f->now.count <= search_from)) {
        if (can_hold(depth)) return;
        refuse("seat %d is said to hold %d, and does not", mine, bound);
    }
    f->listed = list_actions(&f->now, f->list);
    if (seat_to_act(&f->now) != mine) {
        for (; k < f->listed; k++) after(depth, f->list[k]), follow(depth + 1);
        return;
    }
    if (strategy == TABLE) k = unread-- > 0 ? (int)strtol(text, &text, 10) : -1;
    else for (int action = reply(&f->now, f->list, f->listed); k < f->listed && f->list[k] != action;) k++;
    if (k < 0 || k >= f->listed) refuse("the strategy of seat %d lacks a legal action", mine);
    after(depth, f->list[k]), follow(depth + 1);
}
static void take(const char *format, void *value) {
    char whole[96];
    int length = 0;
    snprintf(whole, sizeof whole, "%s%%n", format);
    if (sscanf(text, whole, value, &length) != 1 || !length) refuse("it lacks \"%s\"", format);
    text += length;
}
static void read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char end[16], *found = file ? more(NULL, MAX_BYTES + 2) : NULL;
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
    found[size - 13] = 0, text = found;
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
    cells = game == PLAID ? n + option[1] - 2 : game == COPRIMALITY ? n * n : plies;
    if (game == PLAID ? n * option[1] % 2 || option[2] > cells : game == MULTIPLICATION && n % 2 == 0) refuse("no such board");
    used_bytes = sizeof(state) - (MAX_CELLS - (size_t)cells) * sizeof(int16_t);
    frames = calloc((size_t)(game == COPRIMALITY ? option[1] * cells + 2 : cells + n + 2), sizeof *frames);
    if (!frames) refuse("there is not enough memory");
    for (int square = 1; square <= MAX_SQUARE; square++)
        for (int k = 1; k * k <= square; k++)
            if (square % (k * k) == 0) factor[square] = k, radical[square] = square / (k * k);
}

int main(int argc, char **arguments) {
    int most[2] = {NONE, NONE};
    char name[40];
    if (argc < 2 || argc > 3) fprintf(stderr, "usage: verify FILE [GAME]\n"), exit(2);
    read_file(arguments[1]);
    read_head(argc > 2 ? arguments[2] : NULL), refused = 1;
    while (strlen(text) > 1) {
        take(" seat %d", &mine), take(" holds %d", &bound), take(" by %39s", name);
        for (strategy = 0; strategy < STRATEGIES && strcmp(strategies[strategy], name);) strategy++;
        if (mine < 0 || mine > 1 || strategy == STRATEGIES) refuse("seat %d plays by %s", mine, name);
        if (strategy == TABLE) take(" %ld", &unread);
        states = slots = 0, start(&frames[0].now), follow(0);
        if (strategy == TABLE && unread) refuse("the table of seat %d is too long", mine);
        printf("; seat %d holds %d by %s (%zu states)", mine, bound, name, states);
        if (bound > most[mine]) most[mine] = bound;
    }
    if (most[0] == NONE && most[1] == NONE) refuse("it claims nothing");
    if (most[0] == -most[1]) printf("\nproved: the value for seat 0 is exactly %d\n", most[0]);
    else printf("\nproved: the value for seat %d is at least %d\n", most[0] == NONE, most[most[0] == NONE]);
    return 0;
}
