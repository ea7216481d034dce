/* draw.c - see draw.h. */
#include "draw.h"
#include "src/trace/view/internal.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include <CUnit/CUnit.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands before the timeline of a line. */
typedef struct head {
    char word[16];
    int first, second; /* numbers: device/stream or thread/stream */
    const char *name;  /* NULL: none */
    size_t name_length;
    const char *time;
} head;

static void draw_steps(drawing *d, const char *time)
{
    for (size_t i = 0, to; time[i] != 0; i = to) {
        for (to = i + 1; time[to] == time[i]; to++)
            ;
        if (isdigit((unsigned char)time[i]))
            d->steps[d->view.nsteps++] =
                (tl_step_window){ (int64_t)i * US, (int64_t)to * US, time[i] - '0', TL_NO_NAME };
    }
}

static void add_launch(drawing *d, int64_t start_ns, int64_t end_ns, uint32_t name, char letter, uint32_t track)
{
    d->launches[d->view.nlaunches++] =
        (tl_launch){ start_ns, end_ns, name, (uint32_t)letter, track, 0, TL_LAUNCH_OF_NOTHING };
}

static void draw_host(drawing *d, const char *time)
{
    for (size_t i = 0; time[i] != 0; i++)
        if (islower((unsigned char)time[i]))
            add_launch(d, (int64_t)i * US, (int64_t)(i + 1) * US, TL_NO_NAME, time[i], 0);
}

static uint32_t name_of(drawing *d, const head *h, const char *letter)
{
    return h->name != NULL ? tl_names_intern(&d->names, h->name, h->name_length)
                           : tl_names_intern(&d->names, letter, 1);
}

static void draw_kernels(drawing *d, uint8_t kind, const head *h)
{
    const char *time = h->time;
    for (size_t i = 0, to; time[i] != 0; i = to) {
        for (to = i + 1; time[i] != '|' && time[to] == time[i]; to++)
            ;
        if (!isupper((unsigned char)time[i]) && time[i] != '|')
            continue;
        d->kernels[d->view.nkernels] = (tl_kernel){
            .start_ns = (int64_t)i * US,
            .end_ns = (int64_t)(time[i] == '|' ? i : to) * US,
            .launch_ns = TL_TIME_UNKNOWN,
            .correlation = tolower((unsigned char)time[i]),
            .bytes = -1,
            .name = name_of(d, h, time + i),
            .launch = TL_NONE,
            .uid = (uint32_t)d->view.nkernels,
            .device = h->first,
            .stream = h->second,
            .step = -1,
            .said = kind == TL_MEMCPY || kind == TL_MEMSET ? TL_NONE : 0,
            .kind = kind,
        };
        d->view.nkernels++;
    }
}

/* Calls and operators: every run of one character but '.'. */
static void draw_spans(drawing *d, const head *h, uint8_t kind, bool call)
{
    const char *time = h->time;
    for (size_t i = 0, to; time[i] != 0; i = to) {
        for (to = i + 1; time[i] != '|' && time[to] == time[i]; to++)
            ;
        if (time[i] == '.' || time[i] == ' ')
            continue;
        uint32_t uid = islower((unsigned char)time[i]) ? (uint32_t)time[i] : (uint32_t)(1000 + d->ncalls + d->nops);
        drawn e = { (int64_t)i * US,
                    time[i] == '|' ? 0 : (int64_t)(to - i) * US,
                    uid,
                    name_of(d, h, time + i),
                    uid,
                    (uint32_t)h->first,
                    h->second,
                    kind };
        if (call)
            d->calls[d->ncalls++] = e;
        else
            d->ops[d->nops++] = e;
        if (call && islower((unsigned char)time[i]))
            add_launch(d, e.start_ns, e.start_ns + e.dur_ns, e.name, time[i], e.track);
    }
}

static int by_place(const void *a, const void *b)
{
    const tl_kernel *x = a, *y = b;
    int64_t difference = x->device != y->device       ? x->device - y->device
                         : x->stream != y->stream     ? x->stream - y->stream
                         : x->start_ns != y->start_ns ? x->start_ns - y->start_ns
                         : x->end_ns != y->end_ns     ? x->end_ns - y->end_ns
                                                      : (int64_t)x->uid - y->uid;
    return difference < 0 ? -1 : difference > 0;
}

static int by_start(const void *a, const void *b)
{
    const tl_launch *x = a, *y = b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns ? 1 : x->uid < y->uid ? -1 : x->uid > y->uid;
}

static int by_thread(const void *a, const void *b)
{
    const drawn *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->dur_ns != y->dur_ns)
        return x->dur_ns > y->dur_ns ? -1 : 1;
    return x->uid < y->uid ? -1 : x->uid > y->uid;
}

static void join_launches(drawing *d)
{
    for (size_t i = 0; i < d->view.nkernels; i++)
        for (size_t l = 0; l < d->view.nlaunches; l++)
            if ((int64_t)d->launches[l].uid == d->kernels[i].correlation) {
                d->kernels[i].launch = (uint32_t)l;
                d->kernels[i].launch_ns = d->launches[l].start_ns;
                d->launches[l].nkernels++;
            }
}

/* A kernel's step is that of its launch, else of its start. */
static void join_steps(drawing *d)
{
    for (size_t i = 0; i < d->view.nkernels; i++)
        for (size_t s = 0; s < d->view.nsteps; s++) {
            tl_kernel *k = &d->kernels[i];
            int64_t at = k->launch != TL_NONE ? k->launch_ns : k->start_ns;
            if (at >= d->steps[s].start_ns && at < d->steps[s].end_ns)
                k->step = d->steps[s].number;
        }
}

static void draw_colls(drawing *d)
{
    for (size_t i = 0; i < d->view.nkernels; i++) {
        if (d->kernels[i].kind != TL_COMM)
            continue;
        d->kernels[i].coll = (uint32_t)d->view.ncolls;
        d->kernels[i].collective = TL_ALL_REDUCE;
        d->colls[d->view.ncolls++] = (tl_coll){ .seq = -1,
                                                .in_nelems = -1,
                                                .out_nelems = -1,
                                                .bytes = -1,
                                                .src = -1,
                                                .dst = -1,
                                                .group = TL_NONE,
                                                .kind = TL_ALL_REDUCE,
                                                .from = TL_COLL_FROM_NAME };
    }
}

/* Sorts the spans into columns; the number of threads. */
static size_t to_columns(drawing *d, drawn *v, size_t n, struct drawn_columns *c)
{
    size_t nthreads = 0;
    qsort(v, n, sizeof *v, by_thread);
    for (size_t i = 0; i < n; i++) {
        c->start_ns[i] = v[i].start_ns;
        c->dur_ns[i] = v[i].dur_ns;
        c->correlation[i] = v[i].correlation;
        c->name[i] = v[i].name;
        c->uid[i] = v[i].uid;
        c->kind[i] = v[i].kind;
        c->copy[i] = -1;
        c->place[i] = (uint32_t)(v[i].stream + 1);
        d->places[v[i].stream + 1] = (tl_stream_id){ -1, v[i].stream };
        if (i == 0 || v[i].track != v[i - 1].track)
            c->threads[nthreads++] = (tl_thread){ v[i].track, i, 0 };
        c->threads[nthreads - 1].n++;
    }
    return nthreads;
}

static void show_host(drawing *d)
{
    struct drawn_columns *c = &d->call_columns, *o = &d->op_columns;
    size_t ncall_threads = to_columns(d, d->calls, d->ncalls, c), nop_threads = to_columns(d, d->ops, d->nops, o);
    d->view.calls = (tl_calls){ c->start_ns, c->dur_ns, c->correlation, c->name,    c->uid,
                                c->place,    c->copy,   d->ncalls,      c->threads, ncall_threads };
    d->view.ops = (tl_ops){ o->start_ns, o->dur_ns, o->name, o->uid, o->kind, d->nops, o->threads, nop_threads };
    d->view.streams = d->places;
}

/* "word", "word 7", "word 1/7", and then perhaps a name; the timeline stands after the last ": ". */
static head read_head(const char *line, bool device)
{
    head h = { .second = device ? 7 : -1, .time = line };
    const char *p = line, *colon = line;
    size_t n = 0;

    for (const char *next = strstr(line, ": "); next != NULL; next = strstr(next + 1, ": "))
        colon = next;
    for (h.time = colon + 1; *h.time == ' '; h.time++)
        ;
    while (isalpha((unsigned char)*p) && n + 1 < sizeof h.word)
        h.word[n++] = *p++;
    while (*p == ' ')
        p++;
    if (isdigit((unsigned char)*p)) {
        char *end;
        int number = (int)strtol(p, &end, 10);
        if (*end == '/') {
            h.first = number;
            h.second = (int)strtol(end + 1, &end, 10);
        } else if (device) {
            h.second = number;
        } else {
            h.first = number;
        }
        for (p = end; *p == ' '; p++)
            ;
    }
    if (p < colon) {
        h.name = p;
        h.name_length = (size_t)(colon - p);
    }
    return h;
}

static void draw_line(drawing *d, const char *line)
{
    if (line[0] == '\0')
        return;
    head h = read_head(line, true), host = read_head(line, false);

    if (strcmp(h.word, "steps") == 0)
        draw_steps(d, h.time);
    else if (strcmp(h.word, "host") == 0)
        draw_host(d, h.time);
    else if (strcmp(h.word, "launch") == 0 || strcmp(h.word, "call") == 0)
        draw_spans(d, &host, 0, true);
    else if (strcmp(h.word, "op") == 0)
        draw_spans(d, &host, TL_OP, false);
    else if (strcmp(h.word, "frame") == 0)
        draw_spans(d, &host, TL_FRAME, false);
    else if (strcmp(h.word, "mark") == 0)
        draw_spans(d, &host, TL_ANNOTATION, false);
    for (uint8_t kind = 0; tl_kind_labels[kind] != NULL; kind++)
        if (strcmp(h.word, tl_kind_labels[kind]) == 0)
            draw_kernels(d, kind, &h);
}

drawing *draw(const char *line, ...)
{
    drawing *d = calloc(1, sizeof *d);
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    va_list more;

    if (d == NULL)
        abort();
    tl_tables_init(&d->out, schemas, n);
    d->view.kernels = d->kernels;
    d->view.launches = d->launches;
    d->view.syncs = d->syncs;
    d->view.steps = d->steps;
    d->view.colls = d->colls;
    d->view.groups = d->groups;
    d->view.names = d->out.names = &d->names;
    va_start(more, line);
    for (; line != NULL; line = va_arg(more, const char *))
        draw_line(d, line);
    va_end(more);
    qsort(d->kernels, d->view.nkernels, sizeof *d->kernels, by_place);
    qsort(d->launches, d->view.nlaunches, sizeof *d->launches, by_start);
    join_launches(d);
    join_steps(d);
    draw_colls(d);
    show_host(d);
    tl_launches_find_ops(&d->view, d->launches);
    return d;
}

void drawing_free(drawing *d)
{
    tl_tables_free(&d->out);
    tl_names_free(&d->names);
    free(d);
}

size_t drawn_call(const drawing *d, const char *name)
{
    for (size_t i = 0; i < d->view.calls.n; i++)
        if (tl_text_is(tl_names_text(&d->names, d->view.calls.name[i]), name))
            return i;
    abort();
}

void draw_sync(drawing *d, size_t call, int device, int stream, int wait_on_stream)
{
    d->syncs[d->view.nsyncs++] = (tl_sync){ .correlation = d->view.calls.correlation[call],
                                            .call_ns = TL_TIME_UNKNOWN,
                                            .name = TL_NO_NAME,
                                            .device = device,
                                            .stream = stream,
                                            .wait_on_stream = wait_on_stream,
                                            .step = -1 };
}

void draw_activity(tl_activity *activity, const tl_rank_view *view)
{
    const tl_host_spans none = { 0 };
    tl_activity_find(activity, view, &none);
}

void find_activity(tl_activity *activity, const drawing *d)
{
    tl_host_spans spans = { 0 };
    tl_host_spans_find(&spans, &d->view);
    tl_activity_find(activity, &d->view, &spans);
    tl_host_spans_free(&spans);
}
