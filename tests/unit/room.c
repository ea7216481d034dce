/* room.c TEST... - runs the test programs of a room that are named, or all: each main is compiled as main_of_NAME. */
#include <stdio.h>
#include <string.h>

#define TEST_PROGRAM(name) int main_of_##name(void);
#include TEST_PROGRAMS
#undef TEST_PROGRAM

#define TEST_PROGRAM(name) { #name, main_of_##name },
static const struct {
    const char *name;
    int (*run)(void);
} programs[] = {
#include TEST_PROGRAMS
};

int main(int argc, char **argv)
{
    int failed = 0, found = 0;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        int named = argc == 1;
        for (int k = 1; k < argc; k++)
            named |= strcmp(argv[k], programs[i].name) == 0;
        if (named) {
            found++;
            failed |= programs[i].run() != 0;
        }
    }
    if (found == 0)
        fprintf(stderr, "%s: no such test\n", argv[argc - 1]);
    return failed || found == 0;
}
