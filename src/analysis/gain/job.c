/* job.c - see job.h. */
#include "job.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/coll_tables.h"
#include "tlmpi/model/tables.h"
#include <stdlib.h>
#include <string.h>

typedef struct making {
    const tl_gain_input *in;
    tl_tables *tables;
    tl_gain_job *job;
    tl_map comm_of;       /* (rank index, uid) -> comm */
    tl_map likes;         /* what is alike -> its number */
    tl_meeting *meetings; /* those of two ranks and more, and of one where the others have no trace */
    uint32_t *row_of;     /* [nmeetings] */
    size_t nmeetings;
    tl_whatif_member *members;
    size_t nmembers;
    tl_group_ranks *groups; /* by number */
    int32_t *group_ranks;
    int32_t *seen; /* by number of group: ranks with a trace */
    size_t ngroups;
} making;

/* -------------------------------------------------------------------------------------------------------- programs */

static uint64_t comm_key(size_t rank, uint32_t uid)
{
    return (uint64_t)rank << 32 | uid;
}

/* With room for ranks that have no trace. */
static bool list_programs(making *m)
{
    const tl_programs *all = m->in->programs;
    tl_gain_job *job = m->job;
    size_t at = 0, nranks = m->in->nranks, room = 2 * nranks + TL_ABSENT_MORE;

    job->programs = tl_calloc(room, sizeof *job->programs);
    job->offsets = tl_calloc(room, sizeof *job->offsets);
    if (job->programs == NULL || job->offsets == NULL)
        return false;
    for (size_t r = 0; r < nranks; r++) {
        while (at < all->of.n && all->of.v[at].rank < m->in->ranks[r])
            at++;
        if (at < all->of.n && all->of.v[at].rank == m->in->ranks[r])
            job->programs[r] = all->of.v[at].program;
        for (uint32_t c = 0; c < job->programs[r].ncomms; c++)
            if (tl_map_put(&m->comm_of, comm_key(r, job->programs[r].comms[c].kernel), c) != 0)
                return false;
    }
    const tl_table *clocks = tl_tables_get(m->tables, &tl_clock_schema);
    for (size_t i = 0, r = 0; i < clocks->n; i++) {
        const tl_clock *row = tl_table_row(clocks, i);
        while (r < nranks && m->in->ranks[r] < row->rank)
            r++;
        if (r < nranks && m->in->ranks[r] == row->rank && row->applied)
            job->offsets[r] = -row->offset_ns;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- groups */

/* Groups whose text names all their ranks. */
static bool list_groups(making *m)
{
    const tl_table *groups = tl_tables_get(m->tables, &tl_group_row_schema);
    size_t room = 0, used = 0;

    for (size_t i = 0; i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        m->ngroups = row->group >= 0 && (size_t)row->group >= m->ngroups ? (size_t)row->group + 1 : m->ngroups;
        room += row->size > 0 ? (size_t)row->size : 0;
    }
    m->groups = tl_calloc(m->ngroups + 1, sizeof *m->groups);
    m->seen = tl_calloc(m->ngroups + 1, sizeof *m->seen);
    m->group_ranks = tl_malloc((room + 1) * sizeof *m->group_ranks);
    if (m->groups == NULL || m->seen == NULL || m->group_ranks == NULL)
        return false;
    for (size_t i = 0; i < groups->n; i++) {
        const tl_group_row *row = tl_table_row(groups, i);
        if (row->group < 0 || row->size == 0) /* or it has counts alone */
            continue;
        m->seen[row->group] = row->seen;
        if (row->inferred || row->size <= 0)
            continue;
        int32_t *ranks = m->group_ranks + used;
        size_t size = (size_t)row->size, n = tl_ranks_of_text(row->ranks, sizeof row->ranks, ranks, size);
        m->groups[row->group] = (tl_group_ranks){ ranks, n == size ? n : 0 };
        used += n == size ? n : 0;
    }
    return true;
}

static tl_group_ranks group_at(const making *m, int32_t group)
{
    static const tl_group_ranks nobody = { NULL, 0 };
    return group >= 0 && (size_t)group < m->ngroups ? m->groups[group] : nobody;
}

/* -------------------------------------------------------------------------------------------------------- meetings */

/* Whether a collective of one rank is one of several, of whom nobody else has a trace. */
static bool is_lone(const making *m, const tl_late_row *row)
{
    if (row->peer >= 0)
        return row->peer != row->rank && tl_index_of(m->in->ranks, m->in->nranks, row->peer) == m->in->nranks;
    return row->peer == TL_NO_PEER && group_at(m, row->group).n > 1 && m->seen[row->group] == 1;
}

static void set_ends(tl_meeting *meeting, const tl_late_row *row, uint8_t kind)
{
    if (row->peer < 0)
        return;
    bool sends = tl_is_sender((tl_collective)kind, row->rank, row->peer);
    meeting->group = -1;
    meeting->from = sends ? row->rank : row->peer;
    meeting->to = sends ? row->peer : row->rank;
}

static bool list_meetings(making *m)
{
    const tl_late_row *rows = m->in->rows;
    m->members = tl_malloc((m->in->nrows + 1) * sizeof *m->members);
    m->meetings = tl_malloc((m->in->nrows + 1) * sizeof *m->meetings);
    m->row_of = tl_malloc((m->in->nrows + 1) * sizeof *m->row_of);
    if (m->members == NULL || m->meetings == NULL || m->row_of == NULL)
        return false;
    for (size_t i = 0, to; i < m->in->nrows; i = to) {
        tl_meeting meeting = { .first = (uint32_t)m->nmembers,
                               .group = rows[i].group,
                               .from = -1,
                               .to = -1,
                               .step = rows[i].step,
                               .last_start_ns = INT64_MIN,
                               .end_ns = INT64_MAX,
                               .bytes = rows[i].bytes,
                               .kind = rows[i].kind };
        for (to = i; to < m->in->nrows && rows[to].collective == rows[i].collective; to++) {
            const tl_late_row *row = &rows[to];
            size_t r = tl_index_of(m->in->ranks, m->in->nranks, row->rank);
            uint32_t comm = r < m->in->nranks ? tl_map_get(&m->comm_of, comm_key(r, row->uid)) : TL_MAP_NONE;
            if (comm == TL_MAP_NONE || !(row->fits || is_lone(m, row)))
                continue;
            m->members[m->nmembers++] = (tl_whatif_member){ (uint32_t)r, comm };
            meeting.last_start_ns = row->start_ns > meeting.last_start_ns ? row->start_ns : meeting.last_start_ns;
            meeting.end_ns = row->end_ns < meeting.end_ns ? row->end_ns : meeting.end_ns;
            set_ends(&meeting, row, m->job->programs[r].comms[comm].kind);
        }
        meeting.n = (uint32_t)m->nmembers - meeting.first;
        if (meeting.n == 0 || (meeting.n == 1 && !is_lone(m, &rows[i]))) {
            m->nmembers = meeting.first;
            continue;
        }
        m->row_of[m->nmeetings] = (uint32_t)i;
        m->meetings[m->nmeetings++] = meeting;
    }
    return true;
}

static tl_status find_absent(making *m, bool whole_steps, tl_error *err)
{
    const tl_absent_input input = {
        .meetings = m->meetings,
        .nmeetings = m->nmeetings,
        .members = m->members,
        .groups = m->groups,
        .ngroups = m->ngroups,
        .ranks = m->in->ranks,
        .roles = m->in->roles,
        .offset_ns = m->job->offsets,
        .programs = m->job->programs,
        .nranks = m->in->nranks,
        .named = m->in->named,
        .named_roles = m->in->named_roles,
        .nnamed = m->in->nnamed,
        .whole_steps = whole_steps,
    };
    tl_status st = tl_absent_find(&input, &m->job->absent, err);
    for (size_t i = 0; st == TL_OK && i < m->job->absent.n; i++) {
        m->job->programs[m->in->nranks + i] = m->job->absent.programs[i];
        m->job->offsets[m->in->nranks + i] = m->job->offsets[m->job->absent.stand_in[i]];
    }
    return st;
}

/* ----------------------------------------------------------------------------------------------------- collectives */

static bool number_of(making *m, uint64_t key, uint32_t *number)
{
    *number = tl_map_get(&m->likes, key);
    if (*number != TL_MAP_NONE)
        return true;
    *number = (uint32_t)m->likes.n;
    return tl_map_put(&m->likes, key, *number) == 0;
}

/* What is sent to and fro has another size each time: that of a power of two. */
static int64_t size_class(const tl_late_row *row, bool loose)
{
    int64_t size = 1;
    if (!loose || row->bytes <= 0)
        return row->bytes;
    while (size <= row->bytes / 2)
        size *= 2;
    return size;
}

/* Collectives of one kind, size and number of ranks should take the same; where ranks have no trace, of those that
 * there are in all. */
static bool set_likes(making *m, const tl_meeting *meeting, const tl_late_row *row, tl_whatif_collective *c)
{
    if (m->job->absent.n == 0)
        return number_of(m, tl_hash_mix(tl_hash_mix(row->kind, (uint64_t)row->bytes), c->n), &c->like);
    size_t size = meeting->group >= 0 ? group_at(m, meeting->group).n : 0;
    uint64_t like = tl_hash_mix(tl_hash_mix(row->kind, (uint64_t)size_class(row, c->loose)), size > 0 ? size : c->n);
    uint64_t where = tl_hash_mix((uint64_t)(int64_t)meeting->group + 1,
                                 (uint64_t)(uint32_t)meeting->from << 32 | (uint32_t)meeting->to);

    return number_of(m, like, &c->like) && number_of(m, tl_hash_mix(where, like), &c->own);
}

/* Those who have no trace sit behind those who have. */
static bool list_collectives(making *m)
{
    tl_gain_job *job = m->job;
    const tl_absent *absent = &job->absent;
    size_t seat = 0;
    bool whole = true;

    job->members = tl_malloc((m->nmembers + absent->nseats + 1) * sizeof *job->members);
    job->collectives = tl_malloc((m->nmeetings + 1) * sizeof *job->collectives);
    job->row_of = tl_malloc((m->nmeetings + 1) * sizeof *job->row_of);
    if (job->members == NULL || job->collectives == NULL || job->row_of == NULL)
        return false;
    for (size_t i = 0; whole && i < m->nmeetings; i++) {
        const tl_meeting *meeting = &m->meetings[i];
        const tl_late_row *row = &m->in->rows[m->row_of[i]];
        tl_whatif_collective c = { .first = (uint32_t)job->nmembers,
                                   .loose = !tl_is_synchronising((tl_collective)row->kind) };
        for (uint32_t k = 0; k < meeting->n; k++)
            job->members[job->nmembers++] = m->members[meeting->first + k];
        for (; seat < absent->nseats && absent->seats[seat].meeting == i; seat++)
            job->members[job->nmembers++] =
                (tl_whatif_member){ (uint32_t)m->in->nranks + absent->seats[seat].absent, absent->seats[seat].comm };
        c.n = (uint32_t)job->nmembers - c.first;
        if (c.n < 2) {
            job->nmembers = c.first;
            continue;
        }
        whole = set_likes(m, meeting, row, &c);
        job->row_of[job->ncollectives] = m->row_of[i];
        job->collectives[job->ncollectives++] = c;
    }
    return whole;
}

/* ------------------------------------------------------------------------------------------------------------- all */

static tl_status make(making *m, tl_standing_in standing_in, tl_error *err)
{
    tl_status st = TL_OK;
    bool whole = list_programs(m) && list_groups(m) && list_meetings(m);
    if (whole && standing_in != TL_STAND_IN_NEVER)
        st = find_absent(m, standing_in == TL_STAND_IN_WHOLE_STEPS, err);
    if (!whole || (st == TL_OK && !list_collectives(m)))
        st = tl_fail_memory(err, "what would have been");
    return st;
}

tl_status tl_gain_job_make(const tl_gain_input *input, tl_tables *tables, tl_standing_in standing_in, tl_gain_job *job,
                           tl_error *err)
{
    making m = { .in = input, .tables = tables, .job = job };
    tl_status st = make(&m, standing_in, err);
    tl_map_free(&m.comm_of);
    tl_map_free(&m.likes);
    free(m.meetings);
    free(m.row_of);
    free(m.members);
    free(m.groups);
    free(m.group_ranks);
    free(m.seen);
    return st;
}

void tl_gain_job_free(tl_gain_job *job)
{
    free(job->programs);
    free(job->offsets);
    free(job->members);
    free(job->collectives);
    free(job->row_of);
    tl_absent_free(&job->absent);
    *job = (tl_gain_job){ 0 };
}
