/* read.c - kernels, operators, collectives and classes of idle time of the results, by name. */
#include "internal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/model/facts.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/work_tables.h"
#include <math.h>
#include <stdio.h>

static uint32_t intern_word(tl_diff *diff, const char *text)
{
    return tl_names_intern(&diff->names, text, strlen(text));
}

uint32_t tl_diff_name_in(tl_diff *diff, int which, uint32_t id)
{
    const tl_diff_side *in = diff->side[which].in;
    tl_text t = in->name(in->name_arg, id);
    return tl_names_intern(&diff->names, t.p != NULL ? t.p : "", t.n);
}

static bool is_compared(const side *s, int32_t rank)
{
    return place_of(s->ranks.v, s->ranks.n, rank) < s->ranks.n;
}

/* Sets the operator that launches most of each kernel's time. */
static void put_operators(tl_diff *diff)
{
    TL_EACH (work, x, diff->of[KERNELS].v) {
        int64_t most_ns = -1;
        TL_EACH (const work, l, diff->of[LAUNCHED].v)
            if (l->kind == x->name && l->side[A].ns > most_ns) {
                most_ns = l->side[A].ns;
                x->operator= l->name;
            }
    }
}

static void add_amount(tl_diff *diff, works *w, int which, uint32_t kind, uint32_t name, int32_t rank, amount more)
{
    tl_diff_add_rank(diff, tl_diff_works_at(w, kind, name)->side, which, tl_hash_mix(kind, name), rank, more);
}

static void read_kernels(tl_diff *diff, int which)
{
    const side *s = &diff->side[which];
    uint32_t operators = intern_word(diff, "operator");
    TL_EACH (const series, x, diff->series) {
        const work *w = &diff->of[KERNELS].v.v[x->work];
        const launches sum = tl_diff_launches_of(diff, x);
        if (x->side == which)
            add_amount(diff, &diff->of[KERNELS], which, w->kind, w->name, x->rank,
                       (amount){ .count = (double)sum.count, .ns = sum.ns });
    }
    TL_ROWS (const tl_operator_row, row, table_of(s, &tl_operator_row_schema))
        if (is_compared(s, row->rank) && row->name != TL_NO_NAME)
            add_amount(diff, &diff->of[OPERATORS], which, operators, tl_diff_name_in(diff, which, row->name), row->rank,
                       (amount){ .count = (double)row->count, .ns = row->host_self_ns });
}

/* Sets the kinds of collectives of which more than a little could not be matched. */
static void find_unmatched(side *s)
{
    int64_t unmatched_ns[TL_NCOLLECTIVES] = { 0 }, all_ns[TL_NCOLLECTIVES] = { 0 };
    TL_ROWS (const tl_exposed, row, table_of(s, &tl_exposed_schema))
        if (row->rank >= 0 && row->step == -1) {
            bool matched = row->unknown_why == TL_COMM_DOUBT_NONE || row->unknown_why > TL_COMM_DOUBT_MISSING;
            all_ns[row->kind] = tl_ns_sum(all_ns[row->kind], row->exposed_ns);
            unmatched_ns[row->kind] = tl_ns_sum(unmatched_ns[row->kind], matched ? 0 : row->unknown_ns);
        }
    for (int k = 0; k < TL_NCOLLECTIVES; k++)
        s->unmatched[k] = (double)unmatched_ns[k] * (double)TL_LITTLE_PART > (double)all_ns[k];
}

/* Reads waiting and transfer of collectives, by sort of group, kind and size. */
static void read_collectives(tl_diff *diff, int which)
{
    const side *s = &diff->side[which];
    TL_ROWS (const tl_bandwidth, row, table_of(s, &tl_bandwidth_schema)) {
        const tl_group_row *group = tl_group_of(table_of(s, &tl_group_row_schema), row->group);
        const char *sort = group != NULL ? tl_parallelism_labels[group->parallelism] : "";
        char text[96];
        snprintf(text, sizeof text, "%s of %s, %d ranks, %lld bytes", tl_collective_labels[row->kind], sort,
                 (int)row->ranks,
                 (long long)(row->bytes >= 0 && row->collectives > 0 ? row->bytes / row->collectives : -1));
        uint32_t name = intern_word(diff, text);
        double ranks = (double)tl_ns_max(row->ranks, 1);
        const int64_t ns[] = { row->wait_ns, row->kernel_ns - row->wait_ns };
        for (int i = 0; i < 2; i++) {
            const char *what = tl_diff_part_labels[i == 0 ? TL_DIFF_WAITING : TL_DIFF_TRANSFER];
            work *w = tl_diff_works_at(&diff->of[COLLECTIVES], intern_word(diff, what), name);
            w->collective = row->kind;
            tl_diff_amount_add(&w->side[which], &(amount){ .count = (double)row->collectives * ranks, .ns = ns[i] });
        }
    }
}

uint32_t tl_diff_class_of(tl_diff *diff, const tl_idle_summary *row)
{
    return tl_names_intern(&diff->names, row->dominant_op, strnlen(row->dominant_op, sizeof row->dominant_op));
}

static void read_idle(tl_diff *diff, int which)
{
    const side *s = &diff->side[which];
    TL_ROWS (const tl_idle_summary, row, table_of(s, &tl_idle_summary_schema)) {
        bool noise = row->drain_type == TL_DRAIN_NOISE;
        if (!is_compared(s, row->rank) || row->device != -1 || row->step != -1 || (row->place == 0 && !noise))
            continue;
        char text[96];
        snprintf(text, sizeof text, "%s, %s", tl_drain_labels[row->drain_type], tl_doing_labels[row->cpu_during_gap]);
        amount more = { .count = (double)row->count, .ns = row->total_ns };
        tl_diff_amount_add(
            &tl_diff_works_at(&diff->of[IDLE], intern_word(diff, text), tl_diff_class_of(diff, row))->side[which],
            &more);
    }
}

void tl_diff_read_works(tl_diff *diff)
{
    static const int tables[] = {
        [KERNELS] = TABLE_KERNEL, [OPERATORS] = TABLE_OPERATOR, [COLLECTIVES] = TABLE_COLLECTIVE, [IDLE] = TABLE_IDLE
    };
    for (int i = A; i <= B; i++) {
        find_unmatched(&diff->side[i]);
        read_kernels(diff, i);
        read_collectives(diff, i);
        read_idle(diff, i);
    }
    put_operators(diff);
    for (int i = KERNELS; i <= IDLE; i++) {
        tl_diff_works_align(diff, &diff->of[i]);
        if (i == KERNELS)
            tl_diff_kernel_steps(diff);
        tl_diff_works_table(diff, &diff->of[i], &diff->tables[tables[i]]);
    }
}
