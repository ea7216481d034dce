/* order.c - an order in which all programs can be replayed together: every entry and every end of a collective after
 * all that it depends on.  Times play no part in it, so one order serves every scenario. */
#include "seats.h"
#include "tlmpi/base/mem.h"
#include <stdlib.h>
#include <string.h>

/* Collectives that contradict others are taken apart, the earliest first; so many at most. */
enum { DISSOLVED_MAX = 16 };

typedef struct ordering {
    tl_whatif *w;
    uint32_t *ready_at; /* by entry: the first comm that may start once the entry is done, TL_NONE ... */
    uint32_t *and_also; /* ... by comm: the next of them */
    uint32_t *behind;   /* by comm: the comm behind it on its stream, TL_NONE */
    uint32_t *first;    /* by comm: the first that began after it ended, on other streams; TL_NONE ... */
    uint32_t *second;   /* ... by comm: the next of those that waited for the same one */
    uint8_t *pending;   /* by comm: what it still waits for */
    bool *begun, *over; /* by comm */
    uint32_t *came;     /* by collective: seats whose comms have begun, without a gap */
    uint32_t *base;     /* by collective: its first seat */
    uint32_t *next;     /* by collective: its next stage */
    uint32_t *blocked;  /* by rank: the comm it waits for, TL_NONE */
    uint32_t *ranks;    /* ring of ranks that can go on */
    size_t first_rank, nranks;
    uint32_t *stages;   /* those that can be done, in order */
    size_t first_stage, nstages;
} ordering;

static void ordering_free(ordering *o)
{
    free(o->ready_at);
    free(o->and_also);
    free(o->behind);
    free(o->first);
    free(o->second);
    free(o->pending);
    free(o->begun);
    free(o->over);
    free(o->came);
    free(o->base);
    free(o->next);
    free(o->blocked);
    free(o->ranks);
    free(o->stages);
}

static uint32_t *nones(size_t n)
{
    uint32_t *v = tl_malloc((n + 1) * sizeof *v);
    if (v != NULL)
        memset(v, 0xff, (n + 1) * sizeof *v);
    return v;
}

static bool ordering_make(ordering *o, tl_whatif *w)
{
    *o = (ordering){ .w = w,
                     .ready_at = nones(w->nentries),
                     .and_also = nones(w->ncomms),
                     .behind = nones(w->ncomms),
                     .first = nones(w->ncomms),
                     .second = nones(w->ncomms),
                     .pending = tl_calloc(w->ncomms + 1, 1),
                     .begun = tl_calloc(w->ncomms + 1, sizeof(bool)),
                     .over = tl_calloc(w->ncomms + 1, sizeof(bool)),
                     .came = tl_calloc(w->ncollectives + 1, sizeof(uint32_t)),
                     .base = tl_calloc(w->ncollectives + 1, sizeof(uint32_t)),
                     .next = nones(w->ncollectives),
                     .blocked = nones(w->nall),
                     .ranks = tl_malloc((w->nall + 1) * sizeof(uint32_t)),
                     .stages = tl_malloc((w->nstages + 1) * sizeof(uint32_t)) };
    return o->ready_at != NULL && o->and_also != NULL && o->behind != NULL && o->first != NULL && o->second != NULL &&
           o->pending != NULL && o->begun != NULL && o->over != NULL && o->came != NULL && o->base != NULL &&
           o->next != NULL && o->blocked != NULL && o->ranks != NULL && o->stages != NULL;
}

static void begin(ordering *o, uint32_t comm)
{
    tl_whatif *w = o->w;
    uint32_t c = w->collective_of[comm];

    o->begun[comm] = true;
    for (uint32_t s = o->next[c]; s < w->nstages && w->stages[s].collective == c; s = o->next[c]) {
        while (o->base[c] + o->came[c] < w->stages[s].end_seat && o->begun[w->seats[o->base[c] + o->came[c]]])
            o->came[c]++;
        if (o->base[c] + o->came[c] < w->stages[s].end_seat)
            return;
        o->stages[o->nstages++] = s;
        o->next[c]++;
    }
}

static void one_less(ordering *o, uint32_t comm)
{
    if (--o->pending[comm] == 0)
        begin(o, comm);
}

static void can_go_on(ordering *o, uint32_t rank)
{
    o->ranks[(o->first_rank + o->nranks++) % (o->w->nall + 1)] = rank;
}

static void add_item(tl_whatif *w, uint32_t of, uint32_t to)
{
    w->order[w->norder++] = (tl_item){ of, to };
}

/* As far as the entry that some comm waits for: that one's length tells about the work beside it, which is behind that. */
static void run_rank(ordering *o, uint32_t rank)
{
    tl_whatif *w = o->w;
    const tl_program *p = &w->in.programs[rank];
    uint32_t from = w->at[rank];
    bool met = false;

    o->blocked[rank] = TL_NONE;
    for (; !met && w->at[rank] < p->nentries; w->at[rank]++) {
        const tl_entry *e = &p->entries[w->at[rank]];
        uint32_t comm = e->comm != TL_NONE ? (uint32_t)(w->comm_base[rank] + e->comm) : TL_NONE;
        if (comm != TL_NONE && !o->over[comm]) {
            o->blocked[rank] = comm;
            break;
        }
        for (uint32_t c = o->ready_at[w->entry_base[rank] + w->at[rank]]; c != TL_NONE; c = o->and_also[c]) {
            one_less(o, c);
            met = true;
        }
    }
    if (w->at[rank] > from)
        add_item(w, rank, w->at[rank]);
    if (o->blocked[rank] == TL_NONE && w->at[rank] < p->nentries)
        can_go_on(o, rank);
}

static void finish_stage(ordering *o, uint32_t s)
{
    tl_whatif *w = o->w;
    add_item(w, s, TL_NONE);
    for (uint32_t i = w->stages[s].first_leave; i < w->stages[s].end_leave; i++) {
        uint32_t comm = w->leaves[i];
        o->over[comm] = true;
        if (o->behind[comm] != TL_NONE)
            one_less(o, o->behind[comm]);
        for (uint32_t c = o->first[comm]; c != TL_NONE; c = o->second[c])
            one_less(o, c);
        if (o->blocked[w->rank_of[comm]] == comm)
            can_go_on(o, w->rank_of[comm]);
    }
}

/* What every comm waits for: the later of its two entries, and other comms. */
static void hang_up_comms(ordering *o)
{
    tl_whatif *w = o->w;
    for (uint32_t s = 0; s < w->nstages; s++) {
        uint32_t c = w->stages[s].collective;
        if (o->next[c] == TL_NONE) {
            o->next[c] = s;
            o->base[c] = w->stages[s].first_seat;
        }
    }
    for (uint32_t i = 0; i < w->ncomms; i++) {
        const tl_comm *comm = tl_comm_at(w, i);
        uint32_t rank = w->rank_of[i], entry = comm->work;
        if (comm->host != TL_NONE && (entry == TL_NONE || comm->host > entry))
            entry = comm->host;
        if (entry != TL_NONE) {
            size_t at = w->entry_base[rank] + entry;
            o->and_also[i] = o->ready_at[at];
            o->ready_at[at] = i;
            o->pending[i]++;
        }
        if (comm->previous != TL_NONE) {
            o->behind[w->comm_base[rank] + comm->previous] = i;
            o->pending[i]++;
        }
        if (comm->after != TL_NONE) {
            size_t other = w->comm_base[rank] + comm->after;
            o->second[i] = o->first[other];
            o->first[other] = i;
            o->pending[i]++;
        }
    }
    for (uint32_t i = 0; i < w->ncomms; i++)
        if (o->pending[i] == 0 && !o->begun[i])
            begin(o, i);
}

/* True when everything has found its place. */
static bool put_in_order(ordering *o)
{
    tl_whatif *w = o->w;
    size_t done = 0;

    w->norder = 0;
    for (uint32_t rank = 0; rank < w->nall; rank++) {
        w->at[rank] = 0;
        can_go_on(o, rank);
    }
    while (o->nranks > 0 || o->first_stage < o->nstages) {
        while (o->first_stage < o->nstages)
            finish_stage(o, o->stages[o->first_stage++]);
        if (o->nranks > 0) {
            uint32_t rank = o->ranks[o->first_rank];
            o->first_rank = (o->first_rank + 1) % (w->nall + 1);
            o->nranks--;
            run_rank(o, rank);
        }
    }
    for (uint32_t rank = 0; rank < w->nall; rank++)
        done += w->at[rank] == w->in.programs[rank].nentries;
    return done == w->nall && o->nstages == w->nstages;
}

/* Of the collectives that are not over the one whose last member came first; TL_NONE when none has more than one member. */
static uint32_t first_unfinished(const ordering *o)
{
    const tl_whatif *w = o->w;
    uint32_t found = TL_NONE;
    int64_t found_ns = INT64_MAX;

    for (uint32_t c = 0; c < w->in.ncollectives; c++) {
        if (w->dissolved[c] || w->in.collectives[c].n < 2)
            continue;
        uint32_t s = o->next[c];
        if (s == TL_NONE || s >= w->nstages || w->stages[s].collective != c)
            continue;
        int64_t last = tl_comm_started(w, w->seats[o->base[c] + w->in.collectives[c].n - 1]);
        if (last < found_ns) {
            found = c;
            found_ns = last;
        }
    }
    return found;
}

bool tl_whatif_order(tl_whatif *w)
{
    for (int round = 0; round <= DISSOLVED_MAX; round++) {
        ordering o = { 0 };
        if (!tl_whatif_seat_all(w))
            return false;
        /* A rank stops at most twice for each of its comms, and once at its end. */
        w->order = tl_malloc((2 * w->ncomms + w->nall + w->nstages + 1) * sizeof *w->order);
        bool whole = w->order != NULL && ordering_make(&o, w);
        if (whole)
            hang_up_comms(&o);
        bool ordered = whole && put_in_order(&o);
        uint32_t culprit = whole && !ordered ? first_unfinished(&o) : TL_NONE;
        ordering_free(&o);
        if (!whole || ordered)
            return whole;
        free(w->order);
        w->order = NULL;
        w->norder = 0;
        if (culprit == TL_NONE)
            break;
        w->dissolved[culprit] = true;
    }
    w->facts.state = TL_WHATIF_ORDER;
    return true;
}
