/* samples.c - what one proc has found, as bytes for another. */
#include "samples.h"
#include "tlmpi/base/group.h"
#include <stdlib.h>
#include <string.h>

void tl_sample_put(tl_bytes *out, const tl_sample *sample, const tl_names *names)
{
    const tl_repetition_set *r = &sample->repetitions;
    tl_bytes_put(out, sample, sizeof *sample);
    tl_bytes_put_list(out, r->v.v, r->v.n, sizeof *r->v.v);
    tl_bytes_put_list(out, r->shares.v, r->shares.n, sizeof *r->shares.v);
    for (size_t i = 0; i < r->shares.n; i++) {
        tl_text name = tl_names_text(names, r->shares.v[i].name);
        tl_bytes_put_list(out, name.p, name.n, 1);
    }
}

static void take_sample(tl_bytes *in, tl_names *names, tl_sample *sample)
{
    tl_repetition_set *r = &sample->repetitions;
    tl_bytes_get(in, sample, sizeof *sample);
    memset(&r->v, 0, sizeof r->v);
    memset(&r->shares, 0, sizeof r->shares);
    tl_bytes_get_list(in, (void **)&r->v.v, &r->v.n, sizeof *r->v.v);
    tl_bytes_get_list(in, (void **)&r->shares.v, &r->shares.n, sizeof *r->shares.v);
    for (size_t i = 0; i < r->shares.n; i++) { /* a name is an id of its proc until here */
        char *text = NULL;
        size_t n = 0;
        tl_bytes_get_list(in, (void **)&text, &n, 1);
        r->shares.v[i].name = tl_names_intern(names, text, n);
        free(text);
    }
}

static int by_item(const void *a, const void *b)
{
    return TL_ORDER((const tl_sample *)a, (const tl_sample *)b, item);
}

/* Traces are counted in each variant. */
static void number(tl_samples *samples)
{
    int32_t nvariants = 0;
    for (size_t i = 0; i < samples->v.n; i++)
        nvariants = samples->v.v[i].variant >= nvariants ? samples->v.v[i].variant + 1 : nvariants;
    int32_t *ntraces = tl_calloc((size_t)nvariants + 1, sizeof *ntraces);

    for (size_t i = 0; i < samples->v.n; i++) {
        tl_sample *s = &samples->v.v[i];
        s->trace = s->status == TL_OK ? ntraces[s->variant]++ : -1;
        for (size_t k = 0; k < s->repetitions.v.n; k++) {
            s->repetitions.v.v[k].variant = s->variant;
            s->repetitions.v.v[k].trace = s->trace;
        }
    }
    samples->nvariants = nvariants;
    free(ntraces);
}

void tl_samples_take(tl_bytes *in, tl_samples *out)
{
    while (in->at < in->n) {
        tl_vec_room(&out->v);
        out->v.v[out->v.n] = (tl_sample){ 0 };
        take_sample(in, &out->names, &out->v.v[out->v.n++]);
    }
    tl_vec_sort(&out->v, by_item);
    number(out);
}

void tl_samples_free(tl_samples *samples)
{
    for (size_t i = 0; i < samples->v.n; i++)
        tl_repetition_set_free(&samples->v.v[i].repetitions);
    free(samples->v.v);
    tl_names_free(&samples->names);
}
