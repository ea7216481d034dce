/* local.c - calls of par.h that need only other calls or no other proc: sharing rows, lengths of naps, environment
 * variables of launchers, and messages of a proc to itself. */
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

/* Each launcher tells its processes their number.  srun does so even if it gives them no means to find each other;
 * MPI_Init then fails with a message, which is better than that many separate runs with one output.  Processes of a
 * batch script also have a SLURM_PROCID, so that alone does not show a launch. */
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

/* An entry of the queue, from the oldest to the newest. */
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
