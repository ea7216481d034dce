/* local.c - naps, the launcher's traces in the environment, and messages of a proc to itself. */
#include "local.h"

#include "tlmpi/base/mem.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A row of waits: the first only let others run, then sleeps double from 20 us to 5 ms, and after a second of those
 * they are 20 ms.  So a proc sleeps through little more than it has waited already, and one that waits for minutes
 * wakes 50 times a second, which costs it less than a thousandth of a core. */
#define YIELDS 8
#define DOUBLINGS 8
#define LONG_NAPS 200
#define FIRST_NAP_NS 20000L
#define LONG_NAP_NS 5000000L
#define LONGEST_NAP_NS 20000000L

void tl_par_nap(unsigned *spins)
{
    unsigned n = *spins;

    if (n < YIELDS + DOUBLINGS + LONG_NAPS)
        (*spins)++;
    if (n < YIELDS) {
        sched_yield();
        return;
    }
    n -= YIELDS;
    long ns = n < DOUBLINGS ? FIRST_NAP_NS << n : n < DOUBLINGS + LONG_NAPS ? LONG_NAP_NS : LONGEST_NAP_NS;
    nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

/* Each launcher tells its processes how many they are.  srun does so whether or not it offers them a way to find each
 * other; where it does not, MPI_Init says so, which is better than as many lone runs on one output.  A batch script's
 * own processes have a SLURM_PROCID too, so that alone says nothing about who was launched. */
static const char *const size_variables[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS" };
static const char *const rank_variables[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK" };
static const char *const place_variables[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID" };

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

bool tl_local_first(void)
{
    for (size_t i = 0; i < COUNT(place_variables); i++) {
        const char *value = getenv(place_variables[i]);
        if (value != NULL)
            return strtol(value, NULL, 10) == 0;
    }
    return true;
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
