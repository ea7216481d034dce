/* cells.c - the work of all ranks, by class, rank and step. */
#include "internal.h"
#include "tlmpi/base/hash.h"
#include <stdlib.h>
#include <string.h>

static void find_step_cuts(tl_baseline *b)
{
    const tl_job_graph *g = b->graph;
    for (size_t r = 0; r < g->nranks; r++)
        for (size_t p = 0; p < g->ranks[r].nports; p++) {
            const tl_rank_port *port = &g->ranks[r].ports[p];
            tl_step_cut *c = &b->cuts[r * b->nsteps + tl_step_index(b->steps, b->nsteps, port->step)];
            c->first = c->n == 0 || port->segment < c->first ? port->segment : c->first;
            c->n++;
        }
    for (size_t q = 0; q < b->nroles; q++)
        for (size_t s = 0; s < b->nsteps; s++) {
            const uint32_t *members = b->members + b->roles[q].first;
            bool comparable = true;
            for (size_t i = 1; i < b->roles[q].n; i++)
                comparable =
                    comparable && b->cuts[members[i] * b->nsteps + s].n == b->cuts[members[0] * b->nsteps + s].n;
            b->comparable[q * b->nsteps + s] = comparable;
        }
}

/* ---------------------------------------------------------------------------------------------------------- classes */

static uint64_t key_of(tl_family family, uint32_t role, uint64_t key)
{
    return tl_hash_mix(tl_hash_mix((uint64_t)family + 1, role), key);
}

uint32_t tl_class_find(const tl_baseline *b, tl_family family, uint32_t role, uint64_t key)
{
    return tl_map_get(&b->class_of, key_of(family, role, key)); /* TL_MAP_NONE is TL_NONE */
}

uint32_t tl_class_at(tl_baseline *b, tl_family family, uint32_t role, uint64_t key)
{
    uint64_t all = key_of(family, role, key);
    uint32_t number = tl_class_find(b, family, role, key);
    if (number != TL_NONE)
        return number;
    tl_grow((void **)&b->classes, &b->class_room, b->nclasses + 1, sizeof *b->classes);
    number = (uint32_t)b->nclasses;
    tl_map_put(&b->class_of, all, number);
    b->classes[b->nclasses++] = (tl_work_class){ .key = key, .role = role, .next = TL_NONE, .family = (uint8_t)family };
    tl_role_ranks *of = &b->roles[role];
    if (of->nclasses++ == 0)
        of->first_class = number;
    else
        b->classes[of->last_class].next = number;
    of->last_class = number;
    return number;
}

void tl_class_add_step(tl_work_class *class, uint32_t step)
{
    size_t at = class->steps.n; /* steps mostly come in ascending order */
    if (at > 0 && class->steps.v[at - 1] >= step) {
        at = 0;
        TL_BISECT(at, class->steps.n, mid, class->steps.v[mid] < step);
        if (class->steps.v[at] == step)
            return;
    }
    tl_vec_room(&class->steps);
    memmove(class->steps.v + at + 1, class->steps.v + at, (class->steps.n++ - at) * sizeof *class->steps.v);
    class->steps.v[at] = step;
}

void tl_class_make_room(tl_baseline *b, tl_work_class *class)
{
    size_t cells = b->roles[class->role].n * class->steps.n;
    class->ns = tl_arena_zeroed(&b->arena, cells, sizeof *class->ns);
    class->pieces = tl_arena_zeroed(&b->arena, cells, sizeof *class->pieces);
    if (class->family == TL_FAMILY_DEVICE || class->family == TL_FAMILY_WAIT)
        class->amount = tl_arena_zeroed(&b->arena, cells, sizeof *class->amount);
}

int64_t tl_class_middle(const tl_baseline *b, const tl_work_class *class, size_t k, int64_t *scratch)
{
    const size_t n = b->roles[class->role].n;
    for (size_t i = 0; i < n; i++)
        scratch[i] = class->ns[i * class->steps.n + k];
    return tl_baseline_median(scratch, n);
}

/* -------------------------------------------------------------------------------------------------------- all ranks */

static void add_cells(const tl_baseline *b, size_t rank, const tl_cells_of_rank *of)
{
    for (size_t i = 0; i < of->n; i++) {
        const tl_work_class *class = &b->classes[b->class_of_kind[rank][of->cells[i].kind]];
        size_t cell = tl_class_cell(class, b->index_in_role[rank], of->cells[i].step);
        class->ns[cell] += of->cells[i].ns;
        class->pieces[cell] += of->cells[i].pieces;
        if (class->amount != NULL)
            class->amount[cell] =
                class->amount[cell] < 0 || of->cells[i].blocks < 0 ? -1 : class->amount[cell] + of->cells[i].blocks;
    }
}

static void read_answers(tl_baseline *b, tl_bytes *out, tl_cells_of_rank *answers)
{
    size_t nranks = b->graph->nranks;
    for (size_t r = 0; r < nranks; r++) {
        if (tl_job_graph_has(b->graph, r)) {
            tl_cells_of_rank *of = &answers[r];
            tl_bytes_get(&out[r], &b->compute_ns[r], sizeof *b->compute_ns);
            tl_bytes_get_list(&out[r], (void **)&of->kinds, &b->nkinds[r], sizeof *of->kinds);
            tl_bytes_get_list(&out[r], (void **)&of->cells, &of->n, sizeof *of->cells);
        }
        tl_bytes_free(&out[r]);
    }
    tl_kinds_alike(b, answers);
    for (size_t r = 0; r < nranks; r++) {
        /* Each kind of the rank's work becomes a class of its role, with the rank's steps. */
        const tl_cells_of_rank *of = &answers[r];
        uint32_t *class_of = b->class_of_kind[r] = tl_arena_take(&b->arena, b->nkinds[r], sizeof *class_of);
        for (size_t k = 0; k < b->nkinds[r]; k++)
            class_of[k] = tl_class_at(b, (tl_family)of->kinds[k].family, b->role_of[r], of->kinds[k].key);
        for (size_t i = 0; i < of->n; i++)
            tl_class_add_step(&b->classes[class_of[of->cells[i].kind]], of->cells[i].step);
    }
    for (size_t c = 0; c < b->nclasses; c++)
        tl_class_make_room(b, &b->classes[c]);
    for (size_t r = 0; r < nranks; r++)
        add_cells(b, r, &answers[r]);
    for (size_t c = 0; c < b->nclasses; c++)
        tl_class_amounts(b, &b->classes[c]);
}

static void ask_cells(tl_baseline *b)
{
    size_t nranks = b->graph->nranks;
    tl_cells_of_rank *answers = tl_calloc(nranks + 1, sizeof *answers);
    tl_asked asked;
    tl_asked_new(nranks, &asked);
    for (size_t r = 0; r < nranks; r++)
        if (tl_job_graph_has(b->graph, r)) {
            tl_bytes *out = &asked.in[r];
            const size_t whole[] = { b->first_whole, b->last_whole };
            tl_bytes_put(out, whole, sizeof whole);
            tl_bytes_put_list(out, b->steps, b->nsteps, sizeof *b->steps);
            tl_bytes_put_list(out, b->cut, b->nsteps, sizeof *b->cut);
            tl_bytes_put_list(out, b->cuts + r * b->nsteps, b->nsteps, sizeof *b->cuts);
            tl_bytes_put_list(out, b->comparable + b->role_of[r] * b->nsteps, b->nsteps, sizeof *b->comparable);
        }
    tl_ask_ranks(b->asker, TL_ASK_CELLS, &asked);
    read_answers(b, asked.out, answers);
    for (size_t r = 0; r < nranks; r++) {
        free(answers[r].kinds);
        free(answers[r].cells);
    }
    free(answers);
    tl_asked_free(&asked);
}

void tl_baseline_cells(tl_baseline *out)
{
    size_t nranks = out->graph->nranks;
    out->cuts = tl_arena_zeroed(&out->arena, nranks * out->nsteps, sizeof *out->cuts);
    out->comparable = tl_arena_zeroed(&out->arena, out->nroles * out->nsteps, sizeof *out->comparable);
    out->compute_ns = tl_arena_zeroed(&out->arena, nranks, sizeof *out->compute_ns);
    out->class_of_kind = tl_arena_zeroed(&out->arena, nranks, sizeof *out->class_of_kind);
    out->nkinds = tl_arena_zeroed(&out->arena, nranks, sizeof *out->nkinds);
    find_step_cuts(out);
    ask_cells(out);
}
