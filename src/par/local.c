/* local.c - naps, the launcher's traces in the environment, and messages of a proc to itself. */
#include "local.h"

#include "tlmpi/base/mem.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The first waits of a row only let others run; then sleeps double from 20 us to 5 ms.  What a proc sleeps through is
 * then never much longer than what it has waited already, and a proc that waits for minutes wakes 200 times a second. */
#define YIELDS 8
#define FIRST_NAP_NS 20000L
#define LONGEST_NAP_NS 5000000L

void tl_par_nap(unsigned *spins)
{
    unsigned n = *spins;
    long ns = LONGEST_NAP_NS;

    if (n < YIELDS + 16)
        (*spins)++;
    if (n < YIELDS) {
        sched_yield();
        return;
    }
    if (n - YIELDS < 8)
        ns = FIRST_NAP_NS << (n - YIELDS);
    struct timespec pause = { .tv_sec = 0, .tv_nsec = ns < LONGEST_NAP_NS ? ns : LONGEST_NAP_NS };
    nanosleep(&pause, NULL);
}

/* Each launcher tells its processes how many they are.  srun does so whether or not it offers them a way to find each
 * other; where it does not, MPI_Init says so, which is better than as many lone runs on one output. */
static const char *const size_variables[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS" };
static const char *const rank_variables[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

int tl_local_copies(void)
{
    for (size_t i = 0; i < COUNT(size_variables); i++) {
        const char *value = getenv(size_variables[i]);
        long n = value != NULL ? strtol(value, NULL, 10) : 0;
        if (n >= 1 && n <= INT32_MAX)
            return (int)n;
    }
    return 1;
}

bool tl_par_launched(void)
{
    for (size_t i = 0; i < COUNT(rank_variables); i++)
        if (getenv(rank_variables[i]) != NULL)
            return true;
    return tl_local_copies() > 1;
}

/* A list from the oldest to the newest. */
struct letter {
    struct letter *next;
    size_t n;
    int tag;
    unsigned char bytes[];
};

static struct letter *oldest, **end = &oldest;

bool tl_local_send(int tag, const void *bytes, size_t n)
{
    struct letter *letter = n <= SIZE_MAX - sizeof *letter ? tl_malloc(sizeof *letter + n) : NULL;
    if (letter == NULL)
        return false;
    *letter = (struct letter){ .n = n, .tag = tag };
    if (n > 0)
        memcpy(letter->bytes, bytes, n);
    *end = letter;
    end = &letter->next;
    return true;
}

bool tl_local_probe(tl_message *message)
{
    if (oldest == NULL)
        return false;
    *message = (tl_message){ .from = tl_par_proc(), .tag = oldest->tag, .n = oldest->n };
    return true;
}

void tl_local_take(void *bytes)
{
    struct letter *letter = oldest;
    if (letter->n > 0)
        memcpy(bytes, letter->bytes, letter->n);
    oldest = letter->next;
    if (oldest == NULL)
        end = &oldest;
    free(letter);
}

void tl_local_drop_all(void)
{
    while (oldest != NULL) {
        struct letter *letter = oldest;
        oldest = letter->next;
        free(letter);
    }
    end = &oldest;
}
