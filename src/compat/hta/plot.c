/* plot.c - the bars of HTA's timeline, one for each row on a stream; and the names as HTA shows them.
 *
 * A bar's start is relative to the first bar of its rank; a bar is at least SHORTEST_US long, to be visible.
 */
#include "frame.h"
#include "tlmpi/base/group.h"
#include <stdlib.h>

#define SHORTEST_US 1000
#define LABEL       48 /* bytes of a label */

/* ------------------------------------------------------------------------------------------------------ the names */

enum { ON_HOST = 1, ON_STREAM = 2 };

/* Returns by symbol where rows of this name are: ON_HOST, ON_STREAM.  The caller frees the array. */
static unsigned char *find_places(const tl_hta_job *job)
{
    unsigned char *places = tl_calloc(job->symbols->v.n, 1);

    TL_EACH (const tl_hta_frame, frame, job->frames)
        TL_EACH (const tl_hta_row, row, frame->rows) {
            places[row->name] |= tl_hta_on_stream(row) ? ON_STREAM : ON_HOST;
        }
    return places;
}

/* Writes the host names that shortening changes, then the device names. */
void tl_hta_names(tl_hta_job *job)
{
    const tl_hta_symbols *symbols = job->symbols;
    tl_csv csv = tl_csv_open(&job->out, "names.csv", "device,name,kernel_type,short_name,timeline_name");
    unsigned char *places = find_places(job);
    uint32_t *ids = tl_malloc(symbols->v.n * sizeof *ids);
    tl_bytes shorter = { 0 }, plotted = { 0 };

    for (int place = ON_HOST; place <= ON_STREAM; place++) {
        size_t n = 0;
        for (uint32_t i = 0; i < symbols->v.n; i++) {
            tl_text name = tl_hta_text(symbols, i);
            if ((places[i] & place) && (place == ON_STREAM || tl_text_has(name, "<") || tl_text_has(name, "(")))
                ids[n++] = i;
        }
        tl_sort_index(ids, n, tl_hta_by_text, symbols);
        for (size_t i = 0; i < n; i++) {
            tl_text name = tl_hta_text(symbols, ids[i]);
            tl_hta_short_name(&shorter, name);
            tl_hta_timeline_name(&plotted, name);
            TL_ROW(&csv, place == ON_STREAM ? "gpu" : "cpu", name,
                   place == ON_STREAM ? tl_hta_class_labels[symbols->v.v[ids[i]].class] : "", &shorter, &plotted);
        }
    }
    tl_bytes_free(&shorter);
    tl_bytes_free(&plotted);
    free(places);
    free(ids);
    if (!tl_csv_has_rows(&csv))
        tl_hta_note(&job->out, "names: all ranks: no name is shortened and none is a kernel's");
    tl_csv_close_rows(&csv);
}

/* ------------------------------------------------------------------------------------------------------- the bars */

/* The rows on streams of a rank, in the order of their lines on the plot. */
typedef struct bars {
    const tl_hta_row *all;
    uint32_t *rows;
    size_t n;
    double zero;   /* the first start, us */
    bool one_line; /* no stream is above 0: HTA then plots all streams on one line */
} bars;

static void write_label(char label[LABEL], const bars *b, const tl_hta_row *row)
{
    if (b->one_line)
        snprintf(label, LABEL, "gpu annotate");
    else
        snprintf(label, LABEL, "gpu stream %03lld", (long long)row->stream);
}

/* Sorted by the label's text; ties by start. */
static int by_line(const void *context, uint32_t i, uint32_t j)
{
    const bars *b = context;
    const tl_hta_row *x = &b->all[i], *y = &b->all[j];

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
    bars b = { .all = frame->rows.v, .zero = INFINITY, .one_line = true };

    b.rows = tl_malloc(frame->rows.n * sizeof *b.rows);
    TL_EACH (const tl_hta_row, row, frame->rows) {
        if (!tl_hta_on_stream(row))
            continue;
        b.rows[b.n++] = (uint32_t)(row - b.all);
        b.zero = fmin(b.zero, row->ts);
        b.one_line = b.one_line && row->stream <= 0;
    }
    tl_sort_index(b.rows, b.n, by_line, &b);
    return b;
}

/* As in HTA, a name is shortened twice in a row. */
void tl_hta_timeline_gpu(tl_hta_job *job)
{
    const tl_hta_symbols *symbols = job->symbols;
    unsigned char *places = find_places(job);
    uint32_t *shown = tl_malloc(symbols->v.n * sizeof *shown); /* symbol -> its id in `texts` */
    tl_names texts = { 0 };
    tl_bytes once = { 0 }, twice = { 0 };
    tl_csv csv = tl_csv_open(&job->out, "timeline_gpu.csv",
                             "index,task,calibrated_start_global,calibrated_end_global,name,rank");

    for (uint32_t i = 0; i < symbols->v.n; i++)
        if (places[i] & ON_STREAM) {
            tl_hta_timeline_name(&once, tl_hta_text(symbols, i));
            tl_hta_timeline_name(&twice, tl_bytes_text(&once));
            shown[i] = tl_names_intern(&texts, twice.v, twice.n);
        }
    TL_EACH (const tl_hta_frame, frame, job->frames) {
        bars b = find_bars(frame);
        for (size_t i = 0; i < b.n; i++) {
            const tl_hta_row *row = &b.all[b.rows[i]];
            double start = row->ts - b.zero;
            char label[LABEL];
            write_label(label, &b, row);
            TL_ROW(&csv, row->index, label, start, start + fmax(row->dur, SHORTEST_US),
                   tl_names_text(&texts, shown[row->name]), frame->rank);
        }
        free(b.rows);
    }
    tl_bytes_free(&once);
    tl_bytes_free(&twice);
    tl_names_free(&texts);
    free(places);
    free(shown);
    if (!tl_csv_has_rows(&csv))
        tl_hta_note(&job->out, "timeline_gpu: all ranks: no GPU events, where HTA has no timeline");
    tl_csv_close_rows(&csv);
}
