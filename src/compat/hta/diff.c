/* diff.c - HTA's trace diff: operators and kernels of two jobs by name, how often each runs and for how long.
 *
 *     control   step 5   aten::add x3     aten::copy_ x1                      rows of the chosen ranks and steps
 *     test      step 5   aten::add x2                       aten::mul x1
 *                        decreased        deleted           added
 *
 * By default the rows are of the lowest rank and the first step of each job.  No row is aligned or cut.  Rows of one
 * name are counted together in all categories; rows on stream 0, such as AMD's device work, belong to no step.
 */
#include "frame.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/part_file.h"
#include <stdio.h>
#include <stdlib.h>

enum { CONTROL, TEST, NSIDES };
static const char *const side_names[NSIDES] = { "control", "test" };

/* Properties of a row; a table selects rows by them. */
enum { ON_HOST = 1, ON_STREAM = 2, IN_CHOSEN_STEPS = 4 };

/* A name, with its rows in both jobs. */
typedef struct op {
    tl_text name;
    unsigned is;
    size_t n[NSIDES];
    double us[NSIDES]; /* sums of durations */
} op;

typedef TL_VEC(op) ops;

typedef struct diff {
    tl_csv_folder *out;
    ops all; /* one for each side, name and properties; unsorted */
} diff;

/* ---------------------------------------------------------------------------------------------------- counting rows */

/* Whether only digits follow "ProfilerStep#"; HTA fails on other names. */
static bool is_step_name(tl_text name)
{
    int n = 0;
    sscanf(name.p, "ProfilerStep#%*[0-9]%n", &n);
    return n > 0 && (size_t)n == name.n;
}

/* Adds the rows of the ranks that belong to a step. */
static void count_rows(diff *d, const tl_hta_job *job, int side, const tl_ranges *ranks, const tl_ranges *steps)
{
    tl_map places = { 0 }; /* properties and name -> position in d->all */

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        size_t nlost = 0;
        if (!tl_ranges_has(ranks, frame->rank))
            continue;
        TL_EACH (const tl_hta_row, row, frame->rows) {
            nlost += row->iteration == TL_HTA_STEP_UNKNOWN;
            if (row->iteration < 0)
                continue;
            const unsigned is = (tl_hta_on_stream(row) ? ON_STREAM : ON_HOST) |
                                (tl_ranges_has(steps, row->iteration) ? IN_CHOSEN_STEPS : 0);
            const uint64_t key = (uint64_t)is << 32 | row->name;
            const uint32_t place = tl_map_number(&places, key, d->all.n);
            if (place >= d->all.n)
                tl_vec_push(&d->all, (op){ .name = tl_hta_name(frame, row), .is = is });
            d->all.v[place].us[side] += row->dur;
            d->all.v[place].n[side]++;
        }
        if (nlost > 0)
            tl_csv_note(d->out, false, "compare_gpu: %s: rank %lld: %zu rows on stream 0 are in no step, to HTA",
                        side_names[side], (long long)frame->rank, nlost);
    }
    tl_map_free(&places);
}

/* ------------------------------------------------------------------------------------------------------- the tables */

static int by_text(const void *a, const void *b)
{
    return tl_text_compare(((const op *)a)->name, ((const op *)b)->name);
}

static void add_op(void *sum, const void *more)
{
    op *to = sum;
    for (int side = 0; side < NSIDES; side++) {
        to->n[side] += ((const op *)more)->n[side];
        to->us[side] += ((const op *)more)->us[side];
    }
}

/* Returns the names of rows with one of the properties `where` and all properties `in`, sorted by text, equal names
 * joined.  With `shortened`, names are short, with their texts in that arena.  The caller frees ops.v. */
static ops ops_of(const diff *d, unsigned where, unsigned in, tl_arena *shortened)
{
    ops some = { 0 };
    tl_bytes name = { 0 };

    TL_EACH (const op, each, d->all) {
        op o = *each;
        if ((o.is & where) == 0 || (o.is & in) != in)
            continue;
        if (shortened != NULL) {
            tl_hta_short_name(&name, o.name);
            char *text = tl_arena_take(shortened, name.n, 1);
            memcpy(text, name.v, name.n);
            o.name = (tl_text){ text, name.n };
        }
        tl_vec_push(&some, o);
    }
    tl_bytes_free(&name);
    some.n = tl_merge_equal(some.v, some.n, sizeof *some.v, by_text, add_op);
    return some;
}

/* Writes the names in the control, then the names only in the test. */
static void write_compare(tl_csv *csv, const ops *some)
{
    for (int absent = 0; absent <= 1; absent++)
        TL_EACH (const op, o, *some)
            if ((o->n[CONTROL] == 0) == absent)
                TL_ROW(csv, o->name, o->n[CONTROL], o->us[CONTROL], o->n[TEST], o->us[TEST],
                       (int64_t)(o->n[TEST] - o->n[CONTROL]), o->us[TEST] - o->us[CONTROL],
                       o->n[TEST] > o->n[CONTROL]   ? "+"
                       : o->n[TEST] < o->n[CONTROL] ? "-"
                                                    : "=");
}

static const char *const changes[] = { "added", "deleted", "increased", "decreased", "unchanged" };

static size_t change_of(const op *o)
{
    return o->n[CONTROL] == 0           ? 0
           : o->n[TEST] == 0            ? 1
           : o->n[TEST] > o->n[CONTROL] ? 2
           : o->n[TEST] < o->n[CONTROL] ? 3
                                        : 4;
}

static void write_changes(tl_csv *csv, const ops *some)
{
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++)
        TL_EACH (const op, o, *some)
            if (change_of(o) == k)
                TL_ROW(csv, changes[k], o->name);
}

#define COMPARED                                                                                                       \
    ",control_counts,control_total_duration,test_counts,test_total_duration,diff_counts,diff_duration,"                \
    "counts_change_categories"

static const struct {
    const char *file, *header; /* %s in `file`: the device */
    void (*write)(tl_csv *csv, const ops *some);
    unsigned in; /* properties of the rows */
    bool shortened;
} tables[] = {
    { "compare_%s.csv", "name" COMPARED, write_compare, IN_CHOSEN_STEPS, false },
    { "compare_%s_short.csv", "short_name" COMPARED, write_compare, IN_CHOSEN_STEPS, true },
    { "compare_%s_all_iterations.csv", "name" COMPARED, write_compare, 0, false },
    { "ops_diff_%s.csv", "change,name", write_changes, IN_CHOSEN_STEPS, false },
};

/* Writes HTA's tables of one device. */
static void write_device(diff *d, const char *device, unsigned where)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char file[64];
        tl_arena names = { 0 };
        ops some = ops_of(d, where, tables[i].in, tables[i].shortened ? &names : NULL);
        snprintf(file, sizeof file, tables[i].file, device);
        tl_csv csv = tl_csv_open(d->out, file, tables[i].header);
        tables[i].write(&csv, &some);
        tl_csv_close(&csv);
        free(some.v);
        tl_arena_free(&names);
    }
}

/* ----------------------------------------------------------------------------------------------------- the two jobs */

/* Counts the rows of one job after checking its ranks and steps. */
static void count_side(diff *d, const tl_hta_job *job, int side, tl_error *err)
{
    const tl_hta_parameters *p = job->parameters;
    const tl_ranges *ranks = side == CONTROL ? &p->control_rank : &p->test_rank;
    const tl_ranges *steps = side == CONTROL ? &p->control_iteration : &p->test_iteration;
    tl_range first_rank = { job->frames.v[0].rank, job->frames.v[0].rank }, first = { INT64_MAX, INT64_MAX };
    tl_text bad = { NULL, 0 }; /* a name on which HTA fails */
    bool has_rank = false, has_step = steps->n == 0;

    TL_EACH (const tl_hta_frame, frame, job->frames)
        has_rank |= tl_ranges_has(ranks, frame->rank);
    for (uint32_t id = 0; id < job->symbols->v.n; id++) {
        const int64_t step = job->symbols->v.v[id].step;
        if (tl_hta_is(job->symbols, id, TL_HTA_STEP_ROW) && !is_step_name(tl_hta_text(job->symbols, id)))
            bad = tl_hta_text(job->symbols, id);
        else if (step >= 0 && step < first.first)
            first = (tl_range){ step, step };
        has_step |= step >= 0 && tl_ranges_has(steps, step);
    }
    if (!has_rank)
        tl_fail(err, TL_EUSAGE, "--%s-rank: there is no such rank, ranks begin with %lld", side_names[side],
                (long long)first_rank.first);
    else if (!has_step)
        tl_fail(err, TL_EUSAGE, "--%s-iteration: there is no such step", side_names[side]);
    else if (bad.p != NULL)
        tl_fail(err, TL_EINPUT, "%s: '%.*s' is no number of a step, where HTA gives up", side_names[side], (int)bad.n,
                bad.p);
    else if (first.first == INT64_MAX)
        tl_fail(err, TL_EINPUT, "%s: there is no profiler step, where HTA gives up; tlmpi diff compares whole traces",
                side_names[side]);
    else
        count_rows(d, job, side, ranks->n > 0 ? ranks : &(tl_ranges){ .v = &first_rank, .n = 1 },
                   steps->n > 0 ? steps : &(tl_ranges){ .v = &first, .n = 1 });
}

tl_status tl_compat_hta_diff(const tl_hta_options *control, const tl_hta_options *test, bool *incomplete, tl_error *err)
{
    const tl_hta_options *const options[NSIDES] = { control, test };
    tl_hta_job jobs[NSIDES] = { { .out = { .dir = control->out_dir } }, { .out = { .dir = control->out_dir } } };
    tl_csv_folder *out = &jobs[CONTROL].out;
    diff d = { .out = out };

    *incomplete = false;
    (void)tl_make_folders(control->out_dir, &out->error);
    for (int side = 0; side < NSIDES && !tl_csv_failed(out); side++) {
        tl_hta_job *job = &jobs[side];
        tl_hta_job_load(job, options[side]);
        *incomplete = *incomplete || job->incomplete;
        if (side == TEST)
            tl_bytes_put(&out->notes, job->out.notes.v, job->out.notes.n);
        if (tl_csv_failed(&job->out))
            out->error = job->out.error;
        else if (job->frames.n == 0)
            tl_fail(&out->error, TL_EINPUT, "no file of the %s has an entry with a duration and a category",
                    side_names[side]);
        else
            count_side(&d, job, side, &out->error);
    }
    if (!tl_csv_failed(out)) {
        write_device(&d, "all", ON_HOST | ON_STREAM);
        write_device(&d, "cpu", ON_HOST);
        write_device(&d, "gpu", ON_STREAM);
        tl_csv_write_notes(out);
    }
    tl_status st = out->error.status;
    if (st != TL_OK)
        *err = out->error;
    free(d.all.v);
    for (int side = 0; side < NSIDES; side++)
        tl_hta_job_free(&jobs[side]);
    return st;
}
