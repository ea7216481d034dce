/* local.c - what par.h does by its other calls or without another proc: rows of a proc to itself, lengths of naps,
 * the traces that launchers leave in the environment, and messages of a proc to itself. */
#include "local.h"

#include "tlmpi/base/mem.h"

#include <stdlib.h>
#include <string.h>

void tl_par_share(void **rows, size_t *n, size_t size)
{
    tl_par_bcast(n, sizeof *n);
    if (tl_par_proc() != 0)
        *rows = tl_calloc(*n + 1, size);
    if (*n > 0)
        tl_par_bcast(*rows, *n * size);
}

void tl_local_shuffle(const void *rows, size_t n, size_t size, void **out, size_t *nout)
{
    *out = tl_calloc(n, size);
    *nout = n;
    if (n > 0)
        memcpy(*out, rows, n * size);
}

long tl_local_nap_ns(unsigned *spins, long first_ns, long longest_ns)
{
    long ns = first_ns;
    for (unsigned n = *spins; n > 0 && ns < longest_ns; n--)
        ns *= 2;
    (*spins)++;
    return ns < longest_ns ? ns : longest_ns;
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
struct message {
    struct message *next;
    size_t n;
    int tag;
    unsigned char bytes[];
};

static struct message *oldest, **end = &oldest;

void tl_local_send(int tag, const void *bytes, size_t n)
{
    struct message *message = tl_malloc(sizeof *message + n);
    *message = (struct message){ .n = n, .tag = tag };
    if (n > 0)
        memcpy(message->bytes, bytes, n);
    *end = message;
    end = &message->next;
}

bool tl_local_probe(tl_envelope *envelope)
{
    if (oldest == NULL)
        return false;
    *envelope = (tl_envelope){ .from = tl_par_proc(), .tag = oldest->tag, .n = oldest->n };
    return true;
}

void tl_local_take(void *bytes)
{
    struct message *message = oldest;
    if (message->n > 0 && bytes != NULL)
        memcpy(bytes, message->bytes, message->n);
    oldest = message->next;
    if (oldest == NULL)
        end = &oldest;
    free(message);
}

void tl_local_drop_all(void)
{
    while (oldest != NULL)
        tl_local_take(NULL);
}
