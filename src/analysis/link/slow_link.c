/* slow_link.c - transfers against their like, step by step; see slow_link.h.
 *
 *     list      what is alike                              here
 *     expect    how long it should have been               expect.c
 *     test      what was too long, and whether it lasts    surplus.c
 *     name      between whom                               name.c
 */
#include "parts.h"
#include "shared.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/model/coll.h"
#include <stdlib.h>

bool tl_link_is_comparable(const tl_link_collective *c)
{
    return !c->partial && (c->bytes >= 0 || c->stages != 0);
}

bool tl_link_is_loose(const tl_link_collective *c)
{
    return c->n > 2 && !tl_is_synchronising((tl_collective)c->kind);
}

static bool number_of(tl_map *map, uint64_t key, uint32_t *number)
{
    *number = tl_map_get(map, key);
    if (*number != TL_MAP_NONE)
        return true;
    *number = (uint32_t)map->n;
    return tl_map_put(map, key, *number) == 0;
}

static int64_t size_class(const tl_link_collective *c)
{
    int64_t size = 1;
    if (!tl_link_is_loose(c))
        return c->bytes;
    while (size <= c->bytes / 2)
        size *= 2;
    return size;
}

static bool list(tl_link_finding *f)
{
    bool whole = true;
    for (uint32_t i = 0; whole && i < f->in->ncollectives; i++) {
        const tl_link_collective *c = &f->in->collectives[i];
        int64_t last_start = INT64_MIN, last_end = INT64_MIN;
        uint64_t members = c->n;
        for (uint32_t k = 0; k < c->n; k++) {
            const tl_link_end *e = &f->in->ends[c->first + k];
            last_start = e->start_ns > last_start ? e->start_ns : last_start;
            last_end = e->end_ns > last_end ? e->end_ns : last_end;
            members = tl_hash_mix(members, e->rank);
        }
        f->unit[i] = f->out->link_of[i] = TL_NONE;
        f->took_ns[i] = tl_ns_between(last_end, last_start);
        if (c->n < 2 || c->step >= f->in->nsteps || (tl_is_point_to_point((tl_collective)c->kind) && c->n > 2) ||
            f->took_ns[i] <= 0)
            continue;
        uint64_t key = tl_hash_mix(
            tl_hash_mix(tl_is_point_to_point((tl_collective)c->kind) ? TL_SEND : c->kind, (uint64_t)size_class(c)),
            tl_hash_mix(c->stages, (uint64_t)c->n << 8 | c->span));
        whole = number_of(&f->units, members, &f->unit[i]) && number_of(&f->classes, key, &f->class_of[i]);
        f->order[f->n++] = i;
    }
    f->nunits = f->units.n;
    return whole;
}

static int by_class(const void *context, uint32_t a, uint32_t b)
{
    const tl_link_finding *f = context;
    if (f->class_of[a] != f->class_of[b])
        return f->class_of[a] < f->class_of[b] ? -1 : 1;
    if (f->unit[a] != f->unit[b])
        return f->unit[a] < f->unit[b] ? -1 : 1;
    return TL_COMPARE(f->took_ns[a], f->took_ns[b]);
}

size_t tl_link_cell_end(const tl_link_finding *f, size_t i)
{
    size_t to = i;
    while (to < f->n && f->class_of[f->order[to]] == f->class_of[f->order[i]] &&
           f->unit[f->order[to]] == f->unit[f->order[i]])
        to++;
    return to;
}

size_t tl_link_place(const tl_link_finding *f, uint32_t collective)
{
    return (size_t)f->unit[collective] * f->in->nsteps + f->in->collectives[collective].step;
}

static tl_status find(tl_link_finding *f, tl_error *err)
{
    size_t cells = (f->nunits + 1) * f->in->nsteps + 1;
    f->charge = tl_calloc(cells, sizeof *f->charge);
    f->flagged = tl_calloc(cells, sizeof *f->flagged);
    f->found = tl_calloc(f->nunits + 2, sizeof *f->found);
    if (f->charge == NULL || f->flagged == NULL || f->found == NULL || !tl_sort_index(f->order, f->n, by_class, f))
        return tl_fail_memory(err, "slow links");
    tl_link_expect_all(f);
    tl_status st = tl_link_test(f, err);
    if (st == TL_OK && !tl_link_expect_alone(f))
        st = tl_fail_memory(err, "slow links");
    if (st == TL_OK)
        st = tl_link_test(f, err);
    if (st == TL_OK && !tl_link_name_all(f))
        st = tl_fail_memory(err, "slow links");
    return st;
}

tl_status tl_slow_links_find(const tl_link_input *in, tl_slow_links *out, tl_error *err)
{
    size_t n = in->ncollectives + 1;
    tl_link_finding f = { .in = in,
                          .out = out,
                          .unit = tl_malloc(n * sizeof(uint32_t)),
                          .class_of = tl_malloc(n * sizeof(uint32_t)),
                          .took_ns = tl_malloc(n * sizeof(int64_t)),
                          .should_ns = tl_calloc(n, sizeof(int64_t)),
                          .long_ns = tl_calloc(n, sizeof(int64_t)),
                          .apart_ns = tl_calloc(n, sizeof(int64_t)),
                          .evidence = tl_calloc(n, 1),
                          .shared = tl_calloc(n, sizeof(bool)),
                          .order = tl_malloc(n * sizeof(uint32_t)),
                          .scratch = tl_malloc(2 * n * sizeof(int64_t)) };
    out->link_of = tl_malloc(n * sizeof *out->link_of);
    out->surplus_ns = tl_calloc(n, sizeof *out->surplus_ns);
    bool whole = f.unit != NULL && f.class_of != NULL && f.took_ns != NULL && f.should_ns != NULL &&
                 f.long_ns != NULL && f.apart_ns != NULL && f.evidence != NULL && f.shared != NULL && f.order != NULL &&
                 f.scratch != NULL && out->link_of != NULL && out->surplus_ns != NULL;
    whole = whole && list(&f) && tl_link_find_shared(in, f.shared);
    tl_status st = whole ? TL_OK : tl_fail_memory(err, "slow links");

    if (st == TL_OK && f.n > 0)
        st = find(&f, err);
    tl_map_free(&f.units);
    tl_map_free(&f.classes);
    void *all[] = { f.unit,  f.class_of, f.took_ns, f.should_ns, f.long_ns, f.apart_ns, f.evidence,
                    f.order, f.scratch,  f.charge,  f.flagged,   f.found,   f.shared };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    return st;
}

void tl_slow_links_free(tl_slow_links *links)
{
    free(links->of);
    free(links->link_of);
    free(links->surplus_ns);
    *links = (tl_slow_links){ 0 };
}
