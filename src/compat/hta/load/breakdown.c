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
#include "tlmpi/compat/sheet.h"
#include <math.h>
#include <stdlib.h>

typedef struct books {
    bool any; /* something is on a stream */
    double kernel, idle, compute, other;
} books;

static tl_status balance(books *b, const tl_hta_frame *frame, const tl_hta_symbols *symbols, tl_error *err)
{
    tl_hta_spans all = { 0 }, compute = { 0 };
    tl_status st = TL_OK;

    *b = (books){ 0 };
    if (!tl_hta_spans_of(&all, frame, symbols, TL_HTA_ANY_CLASS) ||
        !tl_hta_spans_of(&compute, frame, symbols, TL_HTA_COMPUTATION)) {
        st = tl_fail_memory(err, "the breakdown of a rank");
    } else if (all.n > 0) {
        b->any = true;
        b->kernel = all.v[all.n - 1].end - all.v[0].ts;
        b->idle = b->kernel - tl_hta_spans_total(&all);
        b->compute = tl_hta_spans_total(&compute);
        b->other = b->kernel - b->compute - b->idle;
    }
    free(all.v);
    free(compute.v);
    return st;
}

/* HTA asserts this, and where rounding has made durations negative it gives up all ranks. */
static bool is_balanced(const books *b)
{
    return b->idle <= b->kernel && b->compute <= b->kernel && b->other >= 0;
}

static void write_books(tl_sheet *csv, int64_t rank, const books *b, bool whole)
{
    const double parts[] = { b->idle, b->compute, b->other };

    tl_sheet_int(csv, rank);
    for (size_t i = 0; i < 3; i++)
        tl_sheet_number(csv, parts[i], whole);
    tl_sheet_number(csv, b->kernel, whole);
    for (size_t i = 0; i < 3; i++)
        tl_sheet_real(csv, tl_numpy_round2(100 * parts[i] / b->kernel));
    tl_sheet_end_row(csv);
}

tl_status tl_hta_temporal_breakdown(tl_hta_job *job, const char *dir, tl_error *err)
{
    bool whole = true; /* a column has one type, for all ranks */
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "temporal_breakdown.csv",
                                 "rank,idle_time(us),compute_time(us),non_compute_time(us),kernel_time(us),"
                                 "idle_time_pctg,compute_time_pctg,non_compute_time_pctg",
                                 err);
    if (st != TL_OK)
        return st;

    for (size_t i = 0; i < job->frames.n; i++)
        whole = whole && job->frames.v[i].ts_whole && job->frames.v[i].dur_whole;
    for (size_t i = 0; i < job->frames.n && st == TL_OK; i++) {
        const tl_hta_frame *frame = &job->frames.v[i];
        books b;
        st = balance(&b, frame, &job->symbols, err);
        if (st != TL_OK)
            break;
        if (!b.any)
            st = tl_hta_job_note(job, err, "temporal_breakdown: rank %lld: no GPU events; HTA gives up all ranks",
                                 (long long)frame->rank);
        else if (!is_balanced(&b))
            st = tl_hta_job_note(job, err,
                                 "temporal_breakdown: rank %lld: the books do not balance: idle %g, compute %g, "
                                 "non-compute %g of %g us; HTA gives up all ranks",
                                 (long long)frame->rank, b.idle, b.compute, b.other, b.kernel);
        else
            write_books(&csv, frame->rank, &b, whole);
    }
    if (st != TL_OK) {
        tl_sheet_abandon(&csv);
        return st;
    }
    return tl_sheet_close(&csv, err);
}

/* Percent of the communication time that is under compute; NaN where there is none. */
static tl_status overlap_of(double *out, const tl_hta_frame *frame, const tl_hta_symbols *symbols, tl_error *err)
{
    tl_hta_spans comm = { 0 }, compute = { 0 };
    double both, total;
    tl_status st = TL_OK;

    if (!tl_hta_spans_of(&comm, frame, symbols, TL_HTA_COMMUNICATION) ||
        !tl_hta_spans_of(&compute, frame, symbols, TL_HTA_COMPUTATION) ||
        !tl_hta_spans_overlap(&comm, &compute, &both) || !tl_hta_spans_lengths(&comm, &total))
        st = tl_fail_memory(err, "the overlap of a rank");
    else
        *out = comm.n > 0 ? 100 * (both / total) : NAN;
    free(comm.v);
    free(compute.v);
    return st;
}

static tl_status write_overlap(tl_hta_job *job, const char *dir, const char *table, bool rounded, tl_error *err)
{
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, table, "rank,comp_comm_overlap_pctg", err);
    if (st != TL_OK)
        return st;

    for (size_t i = 0; i < job->frames.n; i++) {
        double percent = NAN;
        st = overlap_of(&percent, &job->frames.v[i], &job->symbols, err);
        if (st != TL_OK) {
            tl_sheet_abandon(&csv);
            return st;
        }
        tl_sheet_int(&csv, job->frames.v[i].rank);
        tl_sheet_real(&csv, rounded ? tl_numpy_round2(percent) : percent);
        tl_sheet_end_row(&csv);
    }
    return tl_sheet_close(&csv, err);
}

tl_status tl_hta_comm_comp_overlap(tl_hta_job *job, const char *dir, tl_error *err)
{
    tl_status st = write_overlap(job, dir, "comm_comp_overlap.csv", true, err);
    if (st == TL_OK)
        st = write_overlap(job, dir, "comm_comp_overlap_unrounded.csv", false, err);
    return st;
}
