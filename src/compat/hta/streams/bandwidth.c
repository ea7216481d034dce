/* bandwidth.c - how fast copies of a kind go, all streams together.
 *
 *     copies    [ 5 GB/s    ].....
 *               ....[ 3 GB/s  ]...
 *     sum       5...8.......3.0
 *
 * The sums are those of doubles, in the order of time, and what an addition loses stays: after the last copy it may be
 * 1e-14 and not 0.
 */
#include "series.h"
#include "tlmpi/base/sort.h"
#include <stdlib.h>

/* Kinds are told apart by so many characters. */
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

static int by_kind(const void *context, uint32_t a, uint32_t b)
{
    const tl_hta_copied *v = context;
    return TL_COMPARE(v[a].kind, v[b].kind);
}

static int by_text(const void *context, uint32_t a, uint32_t b)
{
    tl_text x = tl_names_text(context, a), y = tl_names_text(context, b);
    size_t n = x.n < y.n ? x.n : y.n;
    int order = n > 0 ? memcmp(x.p, y.p, n) : 0;
    return order != 0 ? order : TL_COMPARE(x.n, y.n);
}

/* kinds of the bandwidth: those of the copies, ascending.  kind[symbol] is where that of a name stands. */
static bool find_kinds(tl_hta_bandwidth *bandwidth, uint32_t *kind, const tl_hta_frame *frame,
                       const tl_hta_symbols *symbols)
{
    tl_names found = { 0 };
    bool ok = true;

    for (size_t i = 0; i < symbols->v.n; i++)
        kind[i] = TL_NO_NAME;
    for (size_t i = 0; ok && i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        if (!tl_hta_is_copy(row, symbols) || kind[row->name] != TL_NO_NAME)
            continue;
        tl_text text = kind_of(tl_names_text(&symbols->texts, row->name));
        kind[row->name] = tl_names_intern(&found, text.p, text.n);
        ok = kind[row->name] != TL_NO_NAME;
    }
    uint32_t *order = tl_malloc((found.n + 1) * sizeof *order), *place = tl_malloc((found.n + 1) * sizeof *place);
    ok = ok && order != NULL && place != NULL;
    for (size_t i = 0; ok && i < found.n; i++)
        order[i] = (uint32_t)i;
    ok = ok && tl_sort_index(order, found.n, by_text, &found);
    for (size_t i = 0; ok && i < found.n; i++) {
        tl_text text = tl_names_text(&found, order[i]);
        place[order[i]] = tl_names_intern(&bandwidth->kinds, text.p, text.n);
        ok = place[order[i]] != TL_NO_NAME;
    }
    for (size_t i = 0; ok && i < symbols->v.n; i++)
        if (kind[i] != TL_NO_NAME)
            kind[i] = place[kind[i]];
    free(order);
    free(place);
    tl_names_free(&found);
    return ok;
}

/* All starts stand before all ends when they are put in order. */
static bool make_series(tl_hta_bandwidth *bandwidth, const uint32_t *kind, const tl_hta_frame *frame,
                        const tl_hta_symbols *symbols)
{
    tl_arena arena = { 0 };
    size_t ncopies = 0, n;

    for (size_t i = 0; i < frame->rows.n; i++)
        ncopies += tl_hta_is_copy(&frame->rows.v[i], symbols);
    n = 2 * ncopies;
    tl_hta_copied *changes = tl_arena_take(&arena, n, sizeof *changes);
    double *ts = tl_arena_take(&arena, n, sizeof *ts);
    bandwidth->v = tl_malloc((n + 1) * sizeof *bandwidth->v);
    uint32_t *order = NULL;
    if (arena.failed || bandwidth->v == NULL)
        goto done;

    for (size_t i = 0, k = 0; i < frame->rows.n; i++) {
        const tl_hta_row *row = &frame->rows.v[i];
        if (!tl_hta_is_copy(row, symbols))
            continue;
        double speed = gb_per_s_of(frame, row), dur = row->dur != 0 ? row->dur : 1;
        changes[k] = (tl_hta_copied){ row->ts, speed, row->track, kind[row->name] };
        changes[ncopies + k++] = (tl_hta_copied){ row->ts + dur, -speed, row->track, kind[row->name] };
    }
    for (size_t i = 0; i < n; i++)
        ts[i] = changes[i].ts;
    order = tl_hta_series_order(changes, ts, n, by_kind);
    for (size_t i = 0; order != NULL && i < n; i++) {
        tl_hta_copied *now = &bandwidth->v[i];
        *now = changes[order[i]];
        if (i > 0 && now[-1].kind == now->kind)
            now->gb_per_s += now[-1].gb_per_s;
    }
    bandwidth->n = n;
done:;
    bool ok = order != NULL;
    tl_arena_free(&arena);
    free(order);
    return ok;
}

tl_status tl_hta_bandwidth_of(tl_hta_bandwidth *bandwidth, const tl_hta_frame *frame, const tl_hta_symbols *symbols,
                              tl_error *err)
{
    uint32_t *kind = tl_malloc((symbols->v.n + 1) * sizeof *kind);
    bool ok =
        kind != NULL && find_kinds(bandwidth, kind, frame, symbols) && make_series(bandwidth, kind, frame, symbols);

    free(kind);
    return ok ? TL_OK : tl_fail_memory(err, "the bandwidth of a rank");
}

void tl_hta_bandwidth_free(tl_hta_bandwidth *bandwidth)
{
    free(bandwidth->v);
    tl_names_free(&bandwidth->kinds);
    *bandwidth = (tl_hta_bandwidth){ 0 };
}
