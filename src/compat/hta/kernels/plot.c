/* plot.c - the bars of HTA's timeline, a row on a stream each; and the names that it shows, there and elsewhere.
 *
 * A bar begins where it does after the first of its rank, and is 1000 us long or longer, so that it can be seen.
 */
#include "tlmpi/compat/hta/kernels.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/compat/sheet.h"
#include "shorten.h"
#include <math.h>
#include <stdlib.h>

#define SHORTEST_US 1000
#define LABEL       48

/* ------------------------------------------------------------------------------------------------------ the names */

enum { ON_HOST = 1, ON_STREAM = 2 };

/* Marks each symbol that is the name of a row, by where the rows are.  NULL: memory is out. */
static unsigned char *find_places(const tl_hta_job *job)
{
    unsigned char *places = tl_calloc(job->symbols.v.n, 1);

    for (size_t i = 0; i < job->frames.n && places != NULL; i++)
        for (size_t k = 0; k < job->frames.v[i].rows.n; k++) {
            const tl_hta_row *row = &job->frames.v[i].rows.v[k];
            places[row->name] |= tl_hta_on_stream(row) ? ON_STREAM : ON_HOST;
        }
    return places;
}

/* Of the host only names that are shortened. */
static bool is_shown(const tl_hta_symbols *symbols, uint32_t id, unsigned char places, unsigned char place)
{
    tl_text name = tl_names_text(&symbols->texts, id);
    return (places & place) && (place == ON_STREAM || tl_text_has(name, "<") || tl_text_has(name, "("));
}

static int by_text(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_symbols *symbols = context;
    return tl_text_compare(tl_names_text(&symbols->texts, a), tl_names_text(&symbols->texts, b));
}

static bool write_name(tl_sheet *csv, const tl_hta_symbols *symbols, uint32_t id, unsigned char place, tl_bytes *part)
{
    tl_text name = tl_names_text(&symbols->texts, id);

    tl_sheet_words(csv, place == ON_STREAM ? "gpu" : "cpu");
    tl_sheet_text(csv, name);
    tl_sheet_words(csv, place == ON_STREAM ? tl_hta_class_labels[symbols->v.v[id].class] : "");
    if (!tl_hta_short_name(part, name))
        return false;
    tl_sheet_text(csv, (tl_text){ part->v, part->n });
    if (!tl_hta_timeline_name(part, name))
        return false;
    tl_sheet_text(csv, (tl_text){ part->v, part->n });
    tl_sheet_end_row(csv);
    return true;
}

/* The host's names, then those of the device. */
static bool write_names(tl_sheet *csv, const tl_hta_symbols *symbols, const unsigned char *places, bool *any)
{
    uint32_t *ids = tl_malloc(symbols->v.n * sizeof *ids);
    tl_bytes part = { 0 };
    bool ok = ids != NULL;

    for (unsigned char place = ON_HOST; place <= ON_STREAM && ok; place++) {
        size_t n = 0;
        for (size_t i = 0; i < symbols->v.n; i++)
            if (is_shown(symbols, (uint32_t)i, places[i], place))
                ids[n++] = (uint32_t)i;
        ok = tl_sort_index(ids, n, by_text, symbols);
        *any |= n > 0;
        for (size_t i = 0; i < n && ok; i++)
            ok = write_name(csv, symbols, ids[i], place, &part);
    }
    tl_bytes_free(&part);
    free(ids);
    return ok;
}

tl_status tl_hta_names(tl_hta_job *job, const char *dir, tl_error *err)
{
    bool any = false;
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "names.csv", "device,name,kernel_type,short_name,timeline_name", err);
    if (st != TL_OK)
        return st;

    unsigned char *places = find_places(job);
    if (places == NULL || !write_names(&csv, &job->symbols, places, &any))
        st = tl_fail_memory(err, "the names of a job");
    free(places);
    if (st == TL_OK && any)
        return tl_sheet_close(&csv, err);
    if (st != TL_OK) {
        tl_sheet_abandon(&csv);
        return st;
    }
    tl_sheet_drop(&csv);
    return tl_hta_job_note(job, err, "names: all ranks: no name is shortened and none is a kernel's");
}

/* ------------------------------------------------------------------------------------------------------- the bars */

/* The rows on a stream of a rank, in the order of their lines on the plot. */
typedef struct bars {
    const tl_hta_frame *frame;
    uint32_t *rows;
    size_t n;
    double zero;    /* the first start */
    bool one_line;  /* HTA tells streams apart only where one is above 0 */
    bool all_short; /* each is drawn longer than it is */
} bars;

static void write_label(char label[LABEL], const bars *b, const tl_hta_row *row)
{
    if (b->one_line)
        snprintf(label, LABEL, "gpu annotate");
    else
        snprintf(label, LABEL, "gpu stream %03lld", (long long)row->stream);
}

/* By the text of the label, then by time. */
static int by_line(const void *context, uint32_t i, uint32_t j)
{
    const bars *b = context;
    const tl_hta_row *x = &b->frame->rows.v[i], *y = &b->frame->rows.v[j];

    if (x->stream != y->stream && !b->one_line) {
        char left[LABEL], right[LABEL];
        write_label(left, b, x);
        write_label(right, b, y);
        return strcmp(left, right);
    }
    return TL_COMPARE(x->ts, y->ts);
}

/* False: memory is out. */
static bool find_bars(bars *b, const tl_hta_frame *frame)
{
    *b = (bars){ .frame = frame, .zero = INFINITY, .one_line = true, .all_short = true };
    b->rows = tl_malloc(frame->rows.n * sizeof *b->rows);
    if (b->rows == NULL)
        return false;
    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        if (!tl_hta_on_stream(row))
            continue;
        b->rows[b->n++] = (uint32_t)i;
        b->zero = fmin(b->zero, row->ts);
        b->one_line = b->one_line && row->stream <= 0;
        b->all_short = b->all_short && row->dur < SHORTEST_US;
    }
    return tl_sort_index(b->rows, b->n, by_line, b);
}

/* Each name as the plot has it, shortened once.  HTA does that twice in a row. */
typedef struct labels {
    tl_names texts;
    uint32_t *of; /* symbol -> its label in `texts` */
} labels;

static bool find_labels(labels *l, const tl_hta_job *job)
{
    const tl_hta_symbols *symbols = &job->symbols;
    unsigned char *places = find_places(job);
    tl_bytes once = { 0 }, twice = { 0 };
    bool ok = places != NULL;

    l->of = tl_malloc(symbols->v.n * sizeof *l->of);
    ok = ok && l->of != NULL;
    for (size_t i = 0; i < symbols->v.n && ok; i++) {
        if (!(places[i] & ON_STREAM))
            continue;
        ok = tl_hta_timeline_name(&once, tl_names_text(&symbols->texts, (uint32_t)i)) &&
             tl_hta_timeline_name(&twice, (tl_text){ once.v, once.n });
        if (ok)
            l->of[i] = tl_names_intern(&l->texts, twice.v, twice.n);
        ok = ok && l->of[i] != TL_NO_NAME;
    }
    tl_bytes_free(&once);
    tl_bytes_free(&twice);
    free(places);
    return ok;
}

static void write_bars(tl_sheet *csv, const bars *b, const labels *l)
{
    const tl_hta_frame *frame = b->frame;

    for (size_t i = 0; i < b->n; i++) {
        const tl_hta_row *row = &frame->rows.v[b->rows[i]];
        double start = row->ts - b->zero;
        char label[LABEL];

        write_label(label, b, row);
        tl_sheet_int(csv, row->index);
        tl_sheet_words(csv, label);
        tl_sheet_number(csv, start, frame->ts_whole);
        tl_sheet_number(csv, start + fmax(row->dur, SHORTEST_US),
                        frame->ts_whole && (frame->dur_whole || b->all_short));
        tl_sheet_text(csv, tl_names_text(&l->texts, l->of[row->name]));
        tl_sheet_int(csv, frame->rank);
        tl_sheet_end_row(csv);
    }
}

tl_status tl_hta_timeline_gpu(tl_hta_job *job, const char *dir, tl_error *err)
{
    labels l = { 0 };
    bool ok, any = false;
    tl_sheet csv;
    tl_status st = tl_sheet_open(&csv, dir, "timeline_gpu.csv",
                                 "index,task,calibrated_start_global,calibrated_end_global,name,rank", err);
    if (st != TL_OK)
        return st;

    ok = find_labels(&l, job);
    for (int pass = 0; pass < 2 && ok; pass++) {
        (pass == 0 ? tl_sheet_look : tl_sheet_write)(&csv);
        for (size_t i = 0; i < job->frames.n && ok; i++) {
            bars b;
            ok = find_bars(&b, &job->frames.v[i]);
            any |= ok && b.n > 0;
            if (ok)
                write_bars(&csv, &b, &l);
            free(b.rows);
        }
    }
    tl_names_free(&l.texts);
    free(l.of);
    if (ok && any)
        return tl_sheet_close(&csv, err);
    if (!ok) {
        tl_sheet_abandon(&csv);
        return tl_fail_memory(err, "the timeline of a rank");
    }
    tl_sheet_drop(&csv);
    return tl_hta_job_note(job, err, "timeline_gpu: all ranks: no GPU events, where HTA has no timeline");
}
