/* dealt.h - a job that is known beforehand, its ranks dealt out over the procs. */
#ifndef TLMPI_TESTS_PAR_DEALT_H
#define TLMPI_TESTS_PAR_DEALT_H

#include "procs.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/match.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/tables.h"
#include <string.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)

enum { RANKS = 12, ROUNDS = 60 };

static tl_participants set;
static tl_exposures exposures;
static tl_tables tables;

/* Empty tables; on proc 0 a row a rank, the last four of them on a second host. */
static inline void begin(int32_t nranks)
{
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    tl_tables_free(&tables);
    tl_participants_free(&set);
    free(exposures.v);
    exposures = (tl_exposures){ 0 };
    tl_tables_init(&tables, schemas, n);
    for (int32_t r = 0; me == 0 && r < nranks; r++) {
        tl_rank *row = tl_table_add(tl_tables_get(&tables, &tl_rank_schema));
        tl_idle_summary *idle = tl_table_add(tl_tables_get(&tables, &tl_idle_summary_schema));
        *idle = (tl_idle_summary){ .rank = r, .device = -1, .step = -1 };
        memcpy(idle->dominant_op, "ALL", 3);
        row->rank = r;
        strcpy(row->host, r < nranks - 4 ? "left" : "right");
    }
}

static inline bool is_mine(int32_t rank)
{
    return (rank * 5 + 1) % all == me;
}

static inline int32_t add_membership(int32_t rank, uint64_t members, int32_t size)
{
    tl_vec_room(&set.memberships);
    set.memberships.v[set.memberships.n++] = (tl_membership){ .members_key = members, .rank = rank, .size = size };
    return (int32_t)set.memberships.n - 1;
}

static inline tl_participant *add_part(int32_t rank, int32_t membership, int64_t start_ns, int64_t end_ns)
{
    static uint32_t uid;
    tl_vec_room(&set.participants);
    tl_participant *p = &set.participants.v[set.participants.n++];
    *p = (tl_participant){ .start_ns = start_ns,
                           .end_ns = end_ns,
                           .launch_ns = tl_ns_between(start_ns, 5 * US),
                           .seq = -1,
                           .bytes = 4096,
                           .rank = rank,
                           .group = membership,
                           .step = 1,
                           .nth = -1,
                           .peer = -1,
                           .uid = uid++,
                           .kind = TL_ALL_REDUCE };
    set.memberships.v[membership].n++;
    return p;
}

/* Round k: all ranks meet, then each four of them.  When rank r comes to the meeting, how long the transfer takes. */
static inline int64_t arrival_ns(int k, int meeting, int32_t rank)
{
    uint64_t state = tl_hash_mix(tl_hash_mix((uint64_t)k + 1, (uint64_t)meeting), (uint64_t)rank + 1) | 1;
    return (2 * k + meeting) * 20 * MS + (int64_t)(unit_random(&state) % (uint64_t)(9 * MS));
}

static inline int64_t last_ns(int k, int meeting, int32_t first, int32_t n)
{
    int64_t last = INT64_MIN;
    for (int32_t r = first; r < first + n; r++)
        last = arrival_ns(k, meeting, r) > last ? arrival_ns(k, meeting, r) : last;
    return last;
}

static inline int64_t end_ns(int k, int meeting, int32_t first, int32_t n)
{
    return last_ns(k, meeting, first, n) + (k % 7 + 1) * 30 * US;
}

/* All of the kernel is exposed, and a gap of another device lasts as long; its second half alone is asked for. */
static inline void add_candidates(const tl_participant *p)
{
    int64_t ns = tl_ns_between(p->end_ns, p->start_ns);
    tl_vec_room(&exposures);
    exposures.v[exposures.n++] = (tl_exposure){ .to_ns = ns, .ns = ns, .rank = p->rank, .uid = p->uid };
    tl_gap_peer *row = tl_table_add(tl_tables_get(&tables, &tl_gap_peer_schema));
    *row = (tl_gap_peer){ .rank = p->rank,
                          .device = 1,
                          .start_ns = p->start_ns,
                          .from_ns = tl_ns_sum(p->start_ns, ns / 2),
                          .peer_ns = ns - ns / 2,
                          .late_rank = -1,
                          .evidence = TL_PEER_SYNC,
                          .collective = -1,
                          .awaited_uid = (int32_t)p->uid,
                          .awaited_ns = p->start_ns };
}

enum { BY_LAUNCH, BY_SEQ, BY_ENDS };

/* The parts of this proc's ranks.  ahead_ns: how far the second host's clock is ahead. */
static inline void deal_out(int rule, int64_t ahead_ns)
{
    begin(RANKS);
    for (int32_t r = 0; r < RANKS; r++) {
        if (!is_mine(r))
            continue;
        int64_t ahead = r < RANKS - 4 ? 0 : ahead_ns;
        int32_t membership[2] = { add_membership(r, 7000, RANKS), add_membership(r, (uint64_t)(8000 + r / 4), 4) };
        for (int k = 0; k < ROUNDS; k++)
            for (int meeting = 0; meeting < 2; meeting++) {
                int32_t first = meeting == 0 ? 0 : r / 4 * 4, n = meeting == 0 ? RANKS : 4;
                tl_participant *p = add_part(r, membership[meeting], arrival_ns(k, meeting, r) + ahead,
                                             end_ns(k, meeting, first, n) + ahead);
                tl_membership *m = &set.memberships.v[membership[meeting]];
                p->nth = rule == BY_ENDS ? -1 : k;
                p->launch_ns = rule == BY_ENDS ? TL_TIME_UNKNOWN : p->launch_ns;
                p->seq = rule == BY_SEQ ? 1000 + k : -1;
                m->nlaunched += rule != BY_ENDS;
                m->nseq += rule == BY_SEQ;
                add_candidates(p);
            }
    }
}

/* All rows of a table of scope COLLECTIVE, on proc 0. */
static inline void *gather_rows(const tl_schema *schema, size_t *n)
{
    void *rows = NULL;
    const tl_table *table = tl_tables_get(&tables, schema);
    tl_collect_rows(table->rows, table->n, schema->row_size, &rows, n);
    return rows;
}

static inline void match(tl_clock_mode mode)
{
    tl_late_rows late = { 0 };
    tl_match_run(&set, &exposures, RANKS, mode, &tables, &late);
    CU_ASSERT_PTR_NULL(set.participants.v);
    CU_ASSERT_PTR_NULL(exposures.v);
    free(late.v);
}

#endif
