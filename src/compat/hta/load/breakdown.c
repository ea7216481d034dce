/* breakdown.c - how a rank's device time divides, and how much communication is hidden.
 *
 *     compute        ..[####]......[########].............
 *     anything else  ......[####]......[###]....[##]......
 *     merged           [###########################]        kernel time: from the first start to the last end
 *     idle                     [--]         [--]            nothing on any stream
 *
 *     kernel time = compute + non-compute + idle;  compute wins where both are
 *
 *     overlap = time with compute and communication / time with communication
 *
 * A row is here for the stream in its arguments: synchronisation and host operators that name a stream count as busy.
 */
#include "tlmpi/compat/hta/load.h"
#include "tlmpi/compat/hta/frame/spans.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

typedef struct division {
    bool any; /* something is on a stream */
    double kernel, idle, compute, other;
} division;

static division divide(const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    tl_hta_spans all = tl_hta_spans_of(frame, symbols, TL_HTA_ANY_CLASS);
    tl_hta_spans compute = tl_hta_spans_of(frame, symbols, TL_HTA_COMPUTATION);
    division d = { .any = all.n > 0 };

    if (d.any) {
        d.kernel = all.v[all.n - 1].end - all.v[0].ts;
        d.idle = d.kernel - tl_hta_spans_total(&all);
        d.compute = tl_hta_spans_total(&compute);
        d.other = d.kernel - d.compute - d.idle;
    }
    free(all.v);
    free(compute.v);
    return d;
}

/* HTA asserts this, and where rounding has made durations negative it gives up all ranks. */
static bool is_balanced(const division *d)
{
    return d->idle <= d->kernel && d->compute <= d->kernel && d->other >= 0;
}

static double percent(const division *d, double part)
{
    return tl_numpy_round2(100 * part / d->kernel);
}

static void write_division(tl_csv *csv, tl_hta_job *job, const tl_hta_frame *frame)
{
    const bool whole = frame->ts_whole && frame->dur_whole;
    const division d = divide(frame, &job->symbols);

    if (!d.any)
        tl_hta_note(job, "temporal_breakdown: rank %lld: no GPU events; HTA gives up all ranks",
                    (long long)frame->rank);
    else if (!is_balanced(&d))
        tl_hta_note(job,
                    "temporal_breakdown: rank %lld: the books do not balance: idle %g, compute %g, non-compute %g "
                    "of %g us; HTA gives up all ranks",
                    (long long)frame->rank, d.idle, d.compute, d.other, d.kernel);
    else
        TL_ROW(csv, frame->rank, tl_number(d.idle, whole), tl_number(d.compute, whole), tl_number(d.other, whole),
               tl_number(d.kernel, whole), percent(&d, d.idle), percent(&d, d.compute), percent(&d, d.other));
}

void tl_hta_temporal_breakdown(tl_hta_job *job)
{
    tl_hta_write_ranks(job, "temporal_breakdown.csv",
                       "rank,idle_time(us),compute_time(us),non_compute_time(us),kernel_time(us),"
                       "idle_time_pctg,compute_time_pctg,non_compute_time_pctg",
                       write_division);
}

/* Percent of the communication time that is under compute; NaN without communication. */
static double overlap_of(const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    tl_hta_spans comm = tl_hta_spans_of(frame, symbols, TL_HTA_COMMUNICATION);
    tl_hta_spans compute = tl_hta_spans_of(frame, symbols, TL_HTA_COMPUTATION);
    double overlap = comm.n > 0 ? 100 * (tl_hta_spans_overlap(&comm, &compute) / tl_hta_spans_lengths(&comm)) : NAN;

    free(comm.v);
    free(compute.v);
    return overlap;
}

void tl_hta_comm_comp_overlap(tl_hta_job *job)
{
    static const char header[] = "rank,comp_comm_overlap_pctg";
    tl_csv rounded = tl_csv_open(&job->out, "comm_comp_overlap.csv", header);
    tl_csv exact = tl_csv_open(&job->out, "comm_comp_overlap_unrounded.csv", header);

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        double overlap = overlap_of(frame, &job->symbols);
        TL_ROW(&rounded, frame->rank, tl_numpy_round2(overlap));
        TL_ROW(&exact, frame->rank, overlap);
    }
    tl_csv_close(&rounded);
    tl_csv_close(&exact);
}
