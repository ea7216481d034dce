/* draw.c - see draw.h. */
#include "draw.h"
#include "tlmpi/analysis/registry.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void draw_steps(drawing *d, const char *time)
{
    for (size_t i = 0, to; time[i] != 0; i = to) {
        for (to = i + 1; time[to] == time[i]; to++)
            ;
        if (isdigit((unsigned char)time[i]))
            d->steps[d->view.nsteps++] = (tl_step_window){ (int64_t)i * US, (int64_t)to * US, time[i] - '0', TL_NO_NAME };
    }
}

static void draw_host(drawing *d, const char *time)
{
    for (size_t i = 0; time[i] != 0; i++)
        if (islower((unsigned char)time[i]))
            d->launches[d->view.nlaunches++] = (tl_launch){ (int64_t)i * US, (int64_t)(i + 1) * US, TL_NO_NAME,
                                                            (uint32_t)time[i], 0, 0 };
}

static void draw_kernels(drawing *d, uint8_t kind, int device, int stream, const char *time)
{
    for (size_t i = 0, to; time[i] != 0; i = to) {
        for (to = i + 1; time[i] != '|' && time[to] == time[i]; to++)
            ;
        if (!isupper((unsigned char)time[i]) && time[i] != '|')
            continue;
        d->kernels[d->view.nkernels] = (tl_kernel){
            .start_ns = (int64_t)i * US, .end_ns = (int64_t)(time[i] == '|' ? i : to) * US, .launch_ns = TL_TIME_UNKNOWN,
            .correlation = tolower((unsigned char)time[i]), .bytes = -1,
            .name = tl_names_intern(&d->names, time + i, 1), .launch = TL_NONE, .uid = (uint32_t)d->view.nkernels,
            .device = device, .stream = stream, .step = -1, .coll = TL_NONE, .kind = kind,
        };
        d->view.nkernels++;
    }
}

static int by_place(const void *a, const void *b)
{
    const tl_kernel *x = a, *y = b;
    int64_t difference = x->device != y->device   ? x->device - y->device
                         : x->stream != y->stream ? x->stream - y->stream
                                                  : x->start_ns - y->start_ns;
    return difference < 0 ? -1 : difference > 0;
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
        d->colls[d->view.ncolls++] = (tl_coll){ .seq = -1, .in_nelems = -1, .out_nelems = -1, .bytes = -1, .src = -1, .dst = -1,
                                                .group = TL_NONE, .kind = TL_ALL_REDUCE, .from = TL_COLL_FROM_NAME };
    }
}

/* Spans stay in order of start, longer ones first. */
static void draw_spans(drawing *d, drawn_spans *s, uint8_t kind, const char *name, size_t length, const char *time)
{
    uint32_t id = tl_names_intern(&d->names, name, length);
    for (size_t i = 0, to; time[i] != 0; i = to) {
        for (to = i + 1; time[to] == time[i] && time[to] != 0; to++)
            ;
        if (time[i] != '=')
            continue;
        int64_t start = (int64_t)i * US, dur = (int64_t)(to - i) * US;
        size_t at = s->n++;
        for (; at > 0 && (s->start_ns[at - 1] > start || (s->start_ns[at - 1] == start && s->dur_ns[at - 1] < dur)); at--) {
            s->start_ns[at] = s->start_ns[at - 1];
            s->dur_ns[at] = s->dur_ns[at - 1];
            s->name[at] = s->name[at - 1];
            s->kind[at] = s->kind[at - 1];
        }
        s->start_ns[at] = start;
        s->dur_ns[at] = dur;
        s->name[at] = id;
        s->kind[at] = kind;
    }
    s->thread.n = s->n;
}

/* "op aten::add: ..===" and the like; whether it is one. */
static bool draw_host_line(drawing *d, const char *line)
{
    static const struct {
        const char *word;
        uint8_t kind;
    } words[] = { { "op ", TL_OP }, { "frame ", TL_FRAME }, { "mark ", TL_ANNOTATION }, { "call ", 0 } };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i].word);
        const char *end = strstr(line, ": "), *time = end;
        if (strncmp(line, words[i].word, n) != 0 || end == NULL)
            continue;
        for (time++; *time == ' '; time++)
            ;
        draw_spans(d, strcmp(words[i].word, "call ") == 0 ? &d->calls : &d->ops, words[i].kind, line + n,
                   (size_t)(end - line) - n, time);
        return true;
    }
    return false;
}

static void join_host(drawing *d)
{
    d->view.calls = (tl_calls){ .start_ns = d->calls.start_ns, .dur_ns = d->calls.dur_ns,
                                .correlation = d->calls.correlation, .name = d->calls.name, .uid = d->calls.uid,
                                .place = d->calls.place, .copy = d->calls.copy, .n = d->calls.n,
                                .threads = &d->calls.thread, .nthreads = d->calls.n > 0 };
    d->view.ops = (tl_ops){ .start_ns = d->ops.start_ns, .dur_ns = d->ops.dur_ns, .name = d->ops.name, .uid = d->ops.uid,
                            .kind = d->ops.kind, .n = d->ops.n, .threads = &d->ops.thread, .nthreads = d->ops.n > 0 };
}

static void draw_line(drawing *d, const char *line)
{
    if (draw_host_line(d, line))
        return;
    char word[16];
    int device = 0, stream = 7;
    const char *time = strchr(line, ':');

    sscanf(line, "%15[a-z]", word);
    if (strchr(line, '/') != NULL)
        sscanf(line, "%*[a-z] %d/%d", &device, &stream);
    else
        sscanf(line, "%*[a-z] %d", &stream);
    for (time++; *time == ' '; time++)
        ;
    if (strcmp(word, "steps") == 0)
        draw_steps(d, time);
    else if (strcmp(word, "host") == 0)
        draw_host(d, time);
    for (uint8_t kind = 0; tl_kind_labels[kind] != NULL; kind++)
        if (strcmp(word, tl_kind_labels[kind]) == 0)
            draw_kernels(d, kind, device, stream, time);
}

drawing *draw(const char *line, ...)
{
    drawing *d = calloc(1, sizeof *d);
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    va_list more;

    if (d == NULL || !tl_tables_init(&d->out, schemas, n))
        abort();
    d->view.kernels = d->kernels;
    d->view.launches = d->launches;
    d->view.steps = d->steps;
    d->view.colls = d->colls;
    d->view.groups = d->groups;
    d->view.names = &d->names;
    va_start(more, line);
    for (; line != NULL; line = va_arg(more, const char *))
        draw_line(d, line);
    va_end(more);
    qsort(d->kernels, d->view.nkernels, sizeof *d->kernels, by_place);
    join_launches(d);
    join_host(d);
    join_steps(d);
    draw_colls(d);
    return d;
}

void drawing_free(drawing *d)
{
    tl_tables_free(&d->out);
    tl_names_free(&d->names);
    free(d);
}
