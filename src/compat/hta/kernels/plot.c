/* plot.c - the bars of HTA's timeline, a row on a stream each; and the names that it shows, there and elsewhere.
 *
 * A bar begins where it does after the first of its rank, and is 1000 us long or longer, so that it can be seen.
 */
#include "shorten.h"
#include "tlmpi/base/group.h"
#include "tlmpi/compat/hta/kernels.h"
#include <stdlib.h>

#define SHORTEST_US 1000
#define LABEL       48

/* ------------------------------------------------------------------------------------------------------ the names */

enum { ON_HOST = 1, ON_STREAM = 2 };

/* Marks each symbol that is the name of a row, by where the rows are. */
static unsigned char *find_places(const tl_hta_job *job)
{
    unsigned char *places = tl_calloc(job->symbols.v.n, 1);

    TL_EACH (const tl_hta_frame, frame, job->frames)
        TL_EACH (const tl_hta_row, row, frame->rows) {
            places[row->name] |= tl_hta_on_stream(row) ? ON_STREAM : ON_HOST;
        }
    return places;
}

/* Whether the name is shown: on the host, only a name that shortening changes. */
static bool is_shown(const tl_hta_symbols *symbols, uint32_t id, unsigned char places, int place)
{
    tl_text name = tl_hta_text(symbols, id);
    return (places & place) && (place == ON_STREAM || tl_text_has(name, "<") || tl_text_has(name, "("));
}

static int by_text(const void *context, uint32_t a, uint32_t b)
{
    return tl_text_compare(tl_hta_text(context, a), tl_hta_text(context, b));
}

static void write_name(tl_csv *csv, const tl_hta_symbols *symbols, uint32_t id, bool on_stream)
{
    tl_text name = tl_hta_text(symbols, id);
    tl_bytes shorter = { 0 }, plotted = { 0 };

    tl_hta_short_name(&shorter, name);
    tl_hta_timeline_name(&plotted, name);
    TL_ROW(csv, on_stream ? "gpu" : "cpu", name, on_stream ? tl_hta_class_labels[symbols->v.v[id].class] : "", &shorter,
           &plotted);
    tl_bytes_free(&shorter);
    tl_bytes_free(&plotted);
}

/* Writes the names of the host, then the names of the device. */
void tl_hta_names(tl_hta_job *job)
{
    const tl_hta_symbols *symbols = &job->symbols;
    tl_csv csv = tl_csv_open(&job->out, "names.csv", "device,name,kernel_type,short_name,timeline_name");
    unsigned char *places = find_places(job);
    uint32_t *ids = tl_malloc(symbols->v.n * sizeof *ids);
    bool any = false;

    for (int place = ON_HOST; place <= ON_STREAM; place++) {
        size_t n = 0;
        for (size_t i = 0; i < symbols->v.n; i++)
            if (is_shown(symbols, (uint32_t)i, places[i], place))
                ids[n++] = (uint32_t)i;
        tl_sort_index(ids, n, by_text, symbols);
        any |= n > 0;
        for (size_t i = 0; i < n; i++)
            write_name(&csv, symbols, ids[i], place == ON_STREAM);
    }
    free(places);
    free(ids);
    tl_csv_end(&csv, any);
    if (!any)
        tl_hta_note(job, "names: all ranks: no name is shortened and none is a kernel's");
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

static bars find_bars(const tl_hta_frame *frame)
{
    bars b = { .frame = frame, .zero = INFINITY, .one_line = true, .all_short = true };

    b.rows = tl_malloc(frame->rows.n * sizeof *b.rows);
    for (size_t i = 0; i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        if (!tl_hta_on_stream(row))
            continue;
        b.rows[b.n++] = (uint32_t)i;
        b.zero = fmin(b.zero, row->ts);
        b.one_line = b.one_line && row->stream <= 0;
        b.all_short = b.all_short && row->dur < SHORTEST_US;
    }
    tl_sort_index(b.rows, b.n, by_line, &b);
    return b;
}

/* Each name as the plot has it, shortened once.  HTA does that twice in a row. */
typedef struct labels {
    tl_names texts;
    uint32_t *of; /* symbol -> its label in `texts` */
} labels;

static labels find_labels(const tl_hta_job *job)
{
    const tl_hta_symbols *symbols = &job->symbols;
    unsigned char *places = find_places(job);
    labels l = { .of = tl_malloc(symbols->v.n * sizeof *l.of) };
    tl_bytes once = { 0 }, twice = { 0 };

    for (size_t i = 0; i < symbols->v.n; i++) {
        if (!(places[i] & ON_STREAM))
            continue;
        tl_hta_timeline_name(&once, tl_hta_text(symbols, (uint32_t)i));
        tl_hta_timeline_name(&twice, (tl_text){ once.v, once.n });
        l.of[i] = tl_names_intern(&l.texts, twice.v, twice.n);
    }
    tl_bytes_free(&once);
    tl_bytes_free(&twice);
    free(places);
    return l;
}

static void write_bars(tl_csv *csv, const bars *b, const labels *l)
{
    const tl_hta_frame *frame = b->frame;
    const bool end_whole = frame->ts_whole && (frame->dur_whole || b->all_short);

    for (size_t i = 0; i < b->n; i++) {
        const tl_hta_row *row = &frame->rows.v[b->rows[i]];
        double start = row->ts - b->zero;
        char label[LABEL];

        write_label(label, b, row);
        TL_ROW(csv, row->index, label, tl_number(start, frame->ts_whole),
               tl_number(start + fmax(row->dur, SHORTEST_US), end_whole), tl_names_text(&l->texts, l->of[row->name]),
               frame->rank);
    }
}

void tl_hta_timeline_gpu(tl_hta_job *job)
{
    labels l = find_labels(job);
    bool any = false;
    tl_csv csv = tl_csv_open(&job->out, "timeline_gpu.csv",
                             "index,task,calibrated_start_global,calibrated_end_global,name,rank");

    TL_EACH (const tl_hta_frame, frame, job->frames) {
        bars b = find_bars(frame);
        any |= b.n > 0;
        write_bars(&csv, &b, &l);
        free(b.rows);
    }
    tl_names_free(&l.texts);
    free(l.of);
    tl_csv_end(&csv, any);
    if (!any)
        tl_hta_note(job, "timeline_gpu: all ranks: no GPU events, where HTA has no timeline");
}
