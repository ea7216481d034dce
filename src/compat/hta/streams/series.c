/* series.c - running totals of changes.
 *
 *     host     [launch a][launch b].................          copies    [ 5 GB/s    ].....
 *     stream   .............[   a   ][ b ]..........                    ....[ 3 GB/s  ]...
 *     length   1.........2..1........0..............          sum       5...8.......3.0
 *
 * The sums are those of doubles, in the order of time, and what an addition loses stays: after the last copy the sum may
 * be 1e-14 and not 0.
 *
 * HTA gives up where a correlation is that of several launches, or of one without a kernel: its counts of launches and
 * of starts then differ.
 */
#include "series.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/python.h"
#include <stdlib.h>

typedef TL_VEC(tl_hta_change) changes;

static int by_key(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_change *v = context;
    return TL_COMPARE(v[a].key, v[b].key);
}

size_t tl_hta_series_end(const tl_hta_series *s, size_t from)
{
    size_t to = from;
    while (to < s->n && s->v[to].key == s->v[from].key)
        to++;
    return to;
}

void tl_hta_series_free(tl_hta_series *series)
{
    free(series->v);
    tl_names_free(&series->kinds);
}

/* Changes by key, and of one key by time as numpy sorts it, with their running totals; takes over all->v. */
static void add_up(tl_hta_series *out, changes *all)
{
    const size_t n = all->n;
    double *ts = tl_malloc(n * sizeof *ts);
    uint32_t *order = tl_malloc(n * sizeof *order);

    for (size_t i = 0; i < n; i++)
        ts[i] = all->v[i].ts;
    tl_numpy_argsort(order, ts, n);
    free(ts);
    (void)tl_sort_index(order, n, by_key, all->v);
    out->v = tl_malloc(n * sizeof *out->v);
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        out->v[i] = all->v[order[i]];
        if (i > 0 && out->v[i - 1].key == out->v[i].key)
            out->v[i].value += out->v[i - 1].value;
    }
    free(order);
    free(all->v);
}

/* ------------------------------------------------------------------------------------------------------------ queues */

static bool is_launch(tl_text name)
{
    static const char *const names[] = {
        "cudaLaunchKernel",
        "cudaLaunchKernelExC",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cudaMemcpyAsync",
        "cudaMemsetAsync",
        "runFunction - job_prep_and_submit_for_execution",
        "hipLaunchKernel",
        "hipExtModuleLaunchKernel",
        "hipMemsetAsync",
        "hipMemcpyAsync",
        "hipMemcpyWithStream",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (tl_text_is(name, names[i]))
            return true;
    return false;
}

/* A device row with the number of its launch. */
typedef struct started {
    const tl_hta_row *kernel;
    uint32_t launch;
} started;

typedef struct pairs {
    TL_VEC(const tl_hta_row *) launches; /* in row order */
    TL_VEC(started) started;             /* in row order */
    bool paired;                         /* each launch has a correlation of its own, and kernels */
} pairs;

static int by_launch(const void *context, uint32_t a, uint32_t b)
{
    const started *v = context;
    return TL_COMPARE(v[a].launch, v[b].launch);
}

static void find_pairs(pairs *p, const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    bool *launches = tl_hta_symbols_that(symbols, is_launch);
    tl_map by_correlation = { 0 }; /* -> number of the launch */
    size_t nstarted = 0;

    p->paired = true;
    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        if (!launches[row->name] || row->link <= 0)
            continue;
        p->paired = p->paired && tl_map_get(&by_correlation, (uint64_t)row->correlation) == TL_MAP_NONE;
        tl_map_put(&by_correlation, (uint64_t)row->correlation, (uint32_t)p->launches.n);
        tl_vec_push(&p->launches, row);
    }
    bool *has_kernel = tl_calloc(p->launches.n, sizeof *has_kernel);
    for (size_t i = 0; i < frame->rows.n && p->launches.n > 0; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        uint32_t launch = tl_hta_on_stream(row) ? tl_map_get(&by_correlation, (uint64_t)row->correlation) : TL_MAP_NONE;
        if (launch == TL_MAP_NONE)
            continue;
        nstarted += !has_kernel[launch];
        has_kernel[launch] = true;
        tl_vec_push(&p->started, (started){ row, launch });
    }
    p->paired = p->paired && nstarted == p->launches.n;
    tl_map_free(&by_correlation);
    free(has_kernel);
    free(launches);
}

/* All launches stand before all starts when they are put in order. */
tl_hta_series tl_hta_queues_of(const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    pairs p = { .paired = true };
    changes all = { 0 };
    tl_hta_series out = { .n = 0 };

    find_pairs(&p, frame, symbols);
    out.why = p.launches.n == 0 ? "nothing was launched by a call that HTA knows"
              : !p.paired       ? "a correlation is that of several launches, or of none with a kernel"
                                : NULL;
    if (out.why == NULL) {
        uint32_t *order = tl_sorted_index(p.started.n, by_launch, p.started.v);
        for (size_t i = 0; i < p.started.n; i++) {
            const tl_hta_row *kernel = p.started.v[order[i]].kernel;
            const tl_hta_row *launch = p.launches.v[p.started.v[order[i]].launch];
            tl_vec_push(&all, (tl_hta_change){ launch->ts, 1, kernel->stream, launch->index, kernel->track });
        }
        for (size_t i = 0; i < p.started.n; i++) {
            const tl_hta_row *row = p.started.v[i].kernel;
            tl_vec_push(&all, (tl_hta_change){ row->ts, -1, row->stream, row->index, row->track });
        }
        free(order);
        add_up(&out, &all);
    }
    free(p.launches.v);
    free(p.started.v);
    return out;
}

/* ------------------------------------------------------------------------------------------------------------ copies */

/* The characters of a name that tell kinds apart. */
#define KIND_CHARACTERS 11

/* The kind of a copy by its name: "Memcpy HtoD" of "Memcpy HtoD (Pageable -> Device)". */
static tl_text kind_of(tl_text name)
{
    size_t n = 0;

    if (tl_text_starts(name, "Memset"))
        return TL_TEXT("Memset");
    if (!tl_text_starts(name, "Memcpy"))
        return TL_TEXT("Memcpy Unknown");
    for (size_t characters = 0; n < name.n; n++) {
        bool begins = ((unsigned char)name.p[n] & 0xc0) != 0x80;
        if (begins && characters++ == KIND_CHARACTERS)
            break;
    }
    return (tl_text){ name.p, n };
}

bool tl_hta_is_copy(const tl_hta_row *row, const tl_hta_symbols *symbols)
{
    return tl_hta_on_stream(row) && symbols->v.v[row->name].class == TL_HTA_MEMORY;
}

static double gb_per_s_of(const tl_hta_frame *frame, const tl_hta_row *row)
{
    size_t at = 0;
    TL_BISECT(at, frame->copies.n, mid, frame->copies.v[mid].index < row->index);
    return at < frame->copies.n && frame->copies.v[at].index == row->index ? frame->copies.v[at].gb_per_s : 0;
}

static int by_text(const void *context, uint32_t a, uint32_t b)
{
    return tl_text_compare(tl_names_text(context, a), tl_names_text(context, b));
}

/* The kinds of the copies, ascending. */
static void find_kinds(tl_names *kinds, const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    tl_names found = { 0 };

    for (size_t i = 0; i < frame->rows.n; i++)
        if (tl_hta_is_copy(&frame->rows.v[i], symbols)) {
            tl_text kind = kind_of(tl_hta_text(symbols, frame->rows.v[i].name));
            tl_names_intern(&found, kind.p, kind.n);
        }
    uint32_t *order = tl_sorted_index(found.n, by_text, &found);
    for (size_t i = 0; i < found.n; i++) {
        tl_text kind = tl_names_text(&found, order[i]);
        tl_names_intern(kinds, kind.p, kind.n);
    }
    free(order);
    tl_names_free(&found);
}

/* All starts stand before all ends when they are put in order. */
tl_hta_series tl_hta_bandwidths_of(const tl_hta_frame *frame, const tl_hta_symbols *symbols)
{
    changes all = { 0 };
    tl_hta_series out = { .n = 0 };

    find_kinds(&out.kinds, frame, symbols);
    for (int end = 0; end < 2; end++)
        for (size_t i = 0; i < frame->rows.n; i++) {
            const tl_hta_row *row = &frame->rows.v[i];
            if (!tl_hta_is_copy(row, symbols))
                continue;
            tl_text kind = kind_of(tl_hta_text(symbols, row->name));
            uint32_t key = tl_names_find(&out.kinds, kind.p, kind.n);
            double speed = gb_per_s_of(frame, row), dur = row->dur != 0 ? row->dur : 1;
            tl_vec_push(&all, (tl_hta_change){ end ? row->ts + dur : row->ts, end ? -speed : speed, key, row->index,
                                               row->track });
        }
    add_up(&out, &all);
    return out;
}
