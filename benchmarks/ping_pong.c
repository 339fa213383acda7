/* The floor: two C programs pass 300 bytes to and fro over pipes. Prints microseconds per round trip.
   usage: ping_pong ROUNDS [CORE] - with CORE, both are pinned to it. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 300 };

static void pass(int from, int to, char *buffer) {
    if (read(from, buffer, BYTES) != BYTES || write(to, buffer, BYTES) != BYTES) _exit(1);
}

int main(int argc, char **argv) {
    int rounds = atoi(argv[1]), there[2], back[2];
    char buffer[BYTES] = {0};
    if (argc > 2) {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        CPU_SET(atoi(argv[2]), &cores);
        sched_setaffinity(0, sizeof cores, &cores);
    }
    if (pipe(there) || pipe(back)) return 1;
    if (fork() == 0) {
        close(there[1]), close(back[0]);
        for (;;) pass(there[0], back[1], buffer);
    }
    close(there[0]), close(back[1]);
    struct timespec start, end;
    for (int round = -1000; round < rounds; round++) {
        if (round == 0) clock_gettime(CLOCK_MONOTONIC, &start);
        if (write(there[1], buffer, BYTES) != BYTES || read(back[0], buffer, BYTES) != BYTES) return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.3f\n", ((end.tv_sec - start.tv_sec) * 1e6 + (end.tv_nsec - start.tv_nsec) / 1e3) / rounds);
    close(there[1]);
    return 0;
}
