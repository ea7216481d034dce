/* par_mpi.c - par.h with MPI.
 *
 * Every wait is a nonblocking call, tested between naps.  A blocking call would spin: with 64 procs on 2 cores, the 63
 * that wait for the last one would take nearly all processor time from it.
 *
 * A process without a launcher runs alone and never calls MPI_Init, which costs 60 ms and a daemon.
 *
 * Errors of MPI itself end the job with the library's message (MPI_ERRORS_ARE_FATAL, its default), so return codes are
 * not checked.
 */
#include "par_mpi.h"
#include "tlmpi/base/part_file.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* Settings of Open MPI for procs that share cores and sleep; a variable that is set already is kept.
 *
 *   yield    Waits inside the library, as in MPI_Init and MPI_Finalize, yield to other processes.
 *   hwloc    Every proc would search all PCI devices for the nearest network card, an eighth of its start-up. (The
 *            names of this component in several versions of hwloc, which ignores unknown names.)
 *   plugins  Of hwloc, too: they search for displays and accelerators, and load vendors' libraries.  One reads XML,
 *            which no proc does, and loads libxml2 and ICU: a fifth of the instructions of MPI_Init.
 *   coll     All components of collectives, which tlmpi hardly uses (par_mpi_tree.c), would be another eighth.
 *   depth    Number of fragments of 32 KB in flight, for a message that cannot be copied directly from the other's
 *            memory.  Each batch waits until a nap of the sender ends: with the default of 3 a megabyte takes ten naps,
 *            with 64 it takes one.
 *   pml, btl, osc
 *            Where all procs are on one host: memory, and TCP where memory cannot be shared.  Every proc would load
 *            the libraries of half a dozen networks, and tell all others how to reach it by each. */
static const struct {
    const char *variable, *value;
    bool one_host;
} settings[] = {
    { "OMPI_MCA_mpi_yield_when_idle", "1", false },
    { "HWLOC_COMPONENTS", "-linuxio,-linuxpci,-pci", false },
    { "HWLOC_PLUGINS_PATH", "/nonexistent", false },
    { "OMPI_MCA_coll", "basic,libnbc,self", false },
    { "OMPI_MCA_pml_ob1_send_pipeline_depth", "64", false },
    { "OMPI_MCA_pml", "ob1", true },
    { "OMPI_MCA_btl", "self,vader,tcp", true },
    { "OMPI_MCA_osc", "sm", true },
};

/* Whether mpirun has started all procs on this host. */
static bool on_one_host(void)
{
    const char *all = getenv("OMPI_COMM_WORLD_SIZE"), *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    return all != NULL && here != NULL && strcmp(all, here) == 0;
}

/* Timer slack, ns (0: the default), during MPI_Init and MPI_Finalize: Open MPI tests every 100 us whether all procs
 * have arrived, and by default the kernel lets a sleep last up to 50 us longer.  With 64 procs on two cores that is a
 * third of the start-up. */
enum { DROWSY_NS = 1000000 };

static void set_timer_slack(unsigned long ns)
{
    (void)prctl(PR_SET_TIMERSLACK, ns, 0UL, 0UL, 0UL);
}

static int proc, nprocs = 1;
static bool running; /* between MPI_Init and MPI_Finalize */

void tl_par_start(int *argc, char ***argv)
{
    if (!tl_par_launched())
        return;

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (!settings[i].one_host || on_one_host())
            setenv(settings[i].variable, settings[i].value, 0);
    set_timer_slack(DROWSY_NS);
    MPI_Init(argc, argv);
    set_timer_slack(0);
    running = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &proc);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    tl_tree_start(proc, nprocs);
    tl_bells_start();
}

void tl_par_end(void)
{
    tl_local_drop_all();
    if (!running)
        return;
    /* MPI_Finalize waits without sleeping: the barrier keeps every proc from entering it early. */
    tl_par_barrier();
    tl_bells_end();
    tl_tree_end();
    set_timer_slack(DROWSY_NS);
    MPI_Finalize();
    running = false;
}

int tl_par_proc(void)
{
    return proc;
}

int tl_par_nprocs(void)
{
    return nprocs;
}

tl_status tl_par_agree(tl_status status, tl_error *err)
{
    if (nprocs == 1)
        return status;

    tl_tree_vote worst = tl_tree_elect((int32_t)status);
    if (worst.value == TL_OK)
        return TL_OK;

    tl_error told = { .status = status };
    if (err != NULL && worst.proc == proc)
        memcpy(told.text, err->text, sizeof told.text);
    tl_tree_tell(told.text, sizeof told.text, worst.proc);
    told.status = (tl_status)worst.value;
    if (err != NULL)
        *err = told;
    return told.status;
}

void tl_par_bcast(void *bytes, size_t n)
{
    for (size_t at = 0; nprocs > 1 && at < n; at += TL_PIECE_BYTES)
        tl_tree_tell((char *)bytes + at, tl_slice_size(n, at), 0);
}

void tl_par_barrier(void)
{
    if (nprocs > 1)
        tl_tree_elect(0);
}

/* Returns a type of n bytes as one MPI item: blocks of 1 MB and the rest.  The caller frees the type. */
static MPI_Datatype item_of(size_t n)
{
    const int block_bytes = 1 << 20;
    MPI_Datatype block, blocks, item;
    int rest = (int)(n % (size_t)block_bytes);

    MPI_Type_contiguous(block_bytes, MPI_BYTE, &block);
    MPI_Type_contiguous((int)(n / (size_t)block_bytes), block, &blocks);
    MPI_Type_create_struct(2, (int[]){ 1, rest }, (MPI_Aint[]){ 0, (MPI_Aint)(n - (size_t)rest) },
                           (MPI_Datatype[]){ blocks, MPI_BYTE }, &item);
    MPI_Type_commit(&item);
    MPI_Type_free(&blocks);
    MPI_Type_free(&block);
    return item;
}

void tl_par_send(int to, int tag, const void *bytes, size_t n, void (*idle)(void *), void *arg)
{
    if (to == proc) {
        tl_local_send(tag, bytes, n);
        return;
    }

    bool fits = n <= INT_MAX;
    MPI_Datatype type = fits ? MPI_BYTE : item_of(n);
    MPI_Request request;
    MPI_Isend(bytes, fits ? (int)n : 1, type, to, tag, MPI_COMM_WORLD, &request);

    unsigned spins = 0;
    int done = 0;
    tl_ring(to);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done) {
        if (idle != NULL)
            idle(arg);
        tl_nap_between_steps(&spins);
    }
    if (!fits)
        MPI_Type_free(&type);
}

bool tl_par_probe(tl_envelope *envelope)
{
    if (tl_local_probe(envelope))
        return true;
    if (nprocs == 1)
        return false;

    MPI_Status status;
    MPI_Count n = 0;
    int there = 0;
    /* Open MPI first looks and then moves messages, as in tl_test: a message that one look has moved is found by the
     * next one. */
    for (int look = 0; look < 2 && !there; look++)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there)
        return false;
    MPI_Get_elements_x(&status, MPI_BYTE, &n);
    *envelope = (tl_envelope){ .from = status.MPI_SOURCE, .tag = status.MPI_TAG, .n = (size_t)n };
    return true;
}

void tl_par_take(const tl_envelope *envelope, void *bytes)
{
    if (envelope->from == proc) {
        tl_local_take(bytes);
        return;
    }

    bool fits = envelope->n <= INT_MAX;
    MPI_Datatype type = fits ? MPI_BYTE : item_of(envelope->n);
    MPI_Request request;
    MPI_Irecv(bytes, fits ? (int)envelope->n : 1, type, envelope->from, envelope->tag, MPI_COMM_WORLD, &request);
    tl_wait_with(envelope->from, &request, envelope->n);
    if (!fits)
        MPI_Type_free(&type);
}

_Noreturn void tl_par_abort(int code)
{
    int told = code >= 1 && code <= 125 ? code : 70;
    tl_unfinished_remove();
    if (running)
        MPI_Abort(MPI_COMM_WORLD, told);
    exit(told);
}
