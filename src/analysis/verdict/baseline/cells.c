/* cells.c - the work of all ranks, by class, rank and step. */
#include "internal.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------- who does alike */

/* Unites kernels of different names that replace each other on the ranks of a role.
 *
 *     rank 0    gemm_128x128  12 times    gemm_64x64  12 times    relu 6 times
 *     rank 1    gemm_128x128  24 times                            relu 6 times
 *
 * A library picks the kernel that it finds fastest, and need not pick the same one on all ranks.  Two sets of names are
 * tried: the names that some ranks lack, then the names whose number of kernels differs between ranks.  If all ranks
 * run the same total number of kernels of such a set, its names become one class (TL_EXCHANGED).
 */

/* A name of kernels in one role. */
typedef struct name {
    int64_t pieces;  /* in whole steps, of the first rank */
    uint32_t nranks; /* ranks with any */
    bool differs;    /* the number of pieces is not the same on all ranks */
} name;

typedef struct sorting {
    const tl_baseline *b;
    const tl_cells_of_rank *ranks;
    const tl_role_ranks *role;
    uint32_t nworking; /* ranks of the role that have a graph */
    tl_map number_of;  /* by key */
    TL_VEC(name) names;
    tl_arena arena;
    int64_t **pieces;   /* by member and kind, in whole steps */
    uint32_t **name_of; /* by member and kind: index of its name; TL_NONE: not a compute kernel */
} sorting;

static uint32_t rank_of(const sorting *s, uint32_t member)
{
    return s->b->members[s->role->first + member];
}

static void count_pieces(sorting *s, uint32_t member)
{
    const uint32_t rank = rank_of(s, member);
    const size_t n = s->b->nkinds[rank];
    const tl_cells_of_rank *r = &s->ranks[rank];
    int64_t *pieces = s->pieces[member] = tl_arena_zeroed(&s->arena, n, sizeof *pieces);
    uint32_t *name_of = s->name_of[member] = tl_arena_take(&s->arena, n, sizeof *name_of);
    for (size_t i = 0; i < r->n; i++)
        pieces[r->cells[i].kind] += s->b->cut[r->cells[i].step] ? 0 : r->cells[i].pieces;
    for (size_t k = 0; k < n; k++) {
        name_of[k] = r->kinds[k].computes ? tl_map_number(&s->number_of, r->kinds[k].key, s->names.n) : TL_NONE;
        if (name_of[k] == s->names.n)
            tl_vec_push(&s->names, (name){ .pieces = pieces[k] });
        if (name_of[k] == TL_NONE)
            continue;
        name *of = &s->names.v[name_of[k]];
        of->nranks += pieces[k] > 0;
        of->differs = of->differs || pieces[k] != of->pieces;
    }
    s->nworking += tl_job_graph_has(s->b->graph, rank);
}

/* Whether some ranks have no kernel of the kind's name, or, unless `lacking`, the ranks' numbers of them differ. */
static bool differs(const sorting *s, uint32_t member, size_t kind, bool lacking)
{
    uint32_t number = s->name_of[member][kind];
    const name *of = number != TL_NONE ? &s->names.v[number] : NULL;
    return of != NULL && of->nranks > 0 && (of->nranks < s->nworking || (of->differs && !lacking));
}

/* Whether all ranks run the same total number of kernels of the names that differ, and more than none. */
static bool is_even(const sorting *s, bool lacking)
{
    int64_t first = -1;
    for (uint32_t i = 0; i < s->role->n; i++) {
        int64_t sum = 0;
        for (size_t k = 0; k < s->b->nkinds[rank_of(s, i)]; k++)
            sum += differs(s, i, k, lacking) ? s->pieces[i][k] : 0;
        if (!tl_job_graph_has(s->b->graph, rank_of(s, i)))
            continue;
        if (first >= 0 && sum != first)
            return false;
        first = sum;
    }
    return first > 0;
}

static void unite_exchanged(sorting *s)
{
    s->pieces = tl_arena_take(&s->arena, s->role->n, sizeof *s->pieces);
    s->name_of = tl_arena_take(&s->arena, s->role->n, sizeof *s->name_of);
    for (uint32_t i = 0; i < s->role->n; i++)
        count_pieces(s, i);
    bool lacking = is_even(s, true);
    if (!lacking && !is_even(s, false))
        return;
    for (uint32_t i = 0; i < s->role->n; i++)
        for (size_t k = 0; k < s->b->nkinds[rank_of(s, i)]; k++)
            if (differs(s, i, k, lacking))
                s->ranks[rank_of(s, i)].kinds[k].key = TL_EXCHANGED;
}

/* Gives kinds of work that are compared the same key. */
static void kinds_alike(const tl_baseline *b, tl_cells_of_rank *ranks)
{
    for (size_t q = 0; q < b->nroles; q++) {
        sorting s = { .b = b, .ranks = ranks, .role = &b->roles[q] };
        unite_exchanged(&s);
        free(s.names.v);
        tl_map_free(&s.number_of);
        tl_arena_free(&s.arena);
    }
}

/* ----------------------------------------------------------------------------------------------- the amount of work */

/* The amount of work of each piece, from the grid of its kernel.
 *
 *     lengths of sequences     1024    2048    1024          vary at random, by rank and step
 *     blocks                     32      64      32          amount of work as a function of the grid ...
 *     time                     1.0 ms  4.0 ms  1.1 ms        ... as a power of it: here the square
 *
 * The power is a least-squares fit, in logarithms, of a rank's time to its blocks from step to step, over all ranks of
 * the role; if blocks are unknown, of time to the number of pieces.  The power is 0 if the number of pieces varies
 * while the time does not, and 1 if the fit has no data: twice the amount takes twice the time.
 */

static bool is_evidence(const tl_baseline *b, const tl_work_class *class, size_t first, size_t k)
{
    size_t cell = first + k;
    return class->amount[cell] > 0 && class->ns[cell] > 0 && !b->cut[class->steps.v[k]];
}

/* Adds one member's sums for the fit: products of the deviations of sizes and times from their means, in logarithms.
 * Sizes are relative to the first: equal sizes then have the logarithm 0 exactly, without rounding errors. */
static void add_member(const tl_baseline *b, const tl_work_class *class, size_t member, double *uu, double *uy)
{
    const size_t n = class->steps.n, first = member * n;
    double u = 0, y = 0, cells = 0, unit = 0;
    for (size_t k = 0; k < n; k++)
        if (is_evidence(b, class, first, k)) {
            unit = cells > 0 ? unit : (double)class->amount[first + k];
            u += log((double)class->amount[first + k] / unit);
            y += log((double)class->ns[first + k]);
            cells++;
        }
    for (size_t k = 0; cells > 0 && k < n; k++)
        if (is_evidence(b, class, first, k)) {
            double du = log((double)class->amount[first + k] / unit) - u / cells;
            *uu += du * du;
            *uy += du * (log((double)class->ns[first + k]) - y / cells);
        }
}

/* Returns the fitted power, rounded to a hundredth. */
static double power_of(const tl_baseline *b, const tl_work_class *class)
{
    const size_t n = class->steps.n, members = b->roles[class->role].n;
    double uu = 0, uy = 0;
    bool differs = false;
    for (size_t i = 0; !differs && i < members * n; i++)
        differs = class->amount[i] != class->amount[i % n];
    for (size_t i = 0; differs && i < members; i++)
        add_member(b, class, i, &uu, &uy);
    return uu > 0 ? round(100 * fmin(fmax(0, uy / uu), 2)) / 100 : 1;
}

/* Replaces class->amount, thread blocks, below 0 if unknown for some piece, by amounts of work. */
static void class_amounts(const tl_baseline *b, tl_work_class *class)
{
    const size_t cells = b->roles[class->role].n * class->steps.n;
    bool known = class->key != TL_EXCHANGED; /* different kernels cut the same work into different blocks */
    if (class->amount == NULL)
        return;
    for (size_t i = 0; i < cells; i++)
        known = known && (class->pieces[i] == 0 || class->amount[i] > 0);
    for (size_t i = 0; i < cells && !known; i++)
        class->amount[i] = class->pieces[i];
    const double power = class->family == TL_FAMILY_DEVICE ? power_of(b, class) : 1;
    double ns = 0, amount = 0;
    if (!(power < 1) && !(power > 1))
        return;
    for (size_t i = 0; i < cells; i++) {
        ns += (double)class->ns[i];
        amount += class->amount[i] > 0 ? pow((double)class->amount[i], power) : 0;
    }
    for (size_t i = 0; i < cells; i++)
        if (class->amount[i] > 0)
            class->amount[i] = 1 + llround(pow((double)class->amount[i], power) * ns / amount);
}

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
    kinds_alike(b, answers);
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
        class_amounts(b, &b->classes[c]);
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
