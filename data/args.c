/* args.c - process groups, and what a trace says about a collective. */
#include "trace.h"
#include <stdio.h>

/* "[3, 7, 11]"; of a long list the first thirty, and "...". */
static void list(char *out, size_t size, const int64_t *values, int n)
{
    int at = snprintf(out, size, "[");
    for (int i = 0; i < n && i < LISTED; i++)
        at += snprintf(out + at, size - (size_t)at, i == 0 ? "%lld" : ", %lld", (long long)values[i]);
    snprintf(out + at, size - (size_t)at, n > LISTED ? ", ...]" : "]");
}

static void list_members(struct named_group *g)
{
    int64_t ranks[LISTED];
    for (int i = 0; i < g->group.n && i < LISTED; i++)
        ranks[i] = g->group.first + i * g->group.stride;
    list(g->members, sizeof g->members, ranks, g->group.n);
}

void name_groups(struct trace *t)
{
    static const struct {
        enum axis axis;
        const char *mesh, *megatron;
    } named[] = { { AXIS_DP, "mesh_dp", "DATA_PARALLEL_GROUP_WITH_CP" },
                  { AXIS_TP, "mesh_tp", "TENSOR_MODEL_PARALLEL_GROUP" },
                  { AXIS_PP, "mesh_pp", "PIPELINE_MODEL_PARALLEL_GROUP" },
                  { AXIS_EP, "mesh_ep", "EXPERT_MODEL_PARALLEL_GROUP" } };
    int before = 1; /* the group of all is 0 */

    for (size_t i = 0; i <= sizeof named / sizeof named[0]; i++) {
        bool all = i == sizeof named / sizeof named[0];
        enum axis axis = all ? AXIS_WORLD : named[i].axis;
        struct named_group *g = &t->groups[axis];
        g->group = group_of(t->job, axis, t->rank);
        /* Where data parallelism is all there is, its group is that of all. */
        bool is_all = g->group.n == t->job->ranks && (axis == AXIS_DP || all);
        int number = is_all ? 0 : before + (t->format.naming == NAMING_LOCAL ? 0 : g->group.number);
        snprintf(g->name, sizeof g->name, "%d", number);
        if (!is_all && g->group.n > 1)
            before += t->format.naming == NAMING_LOCAL ? 1 : groups_of(t->job, axis);
        g->description = is_all                                 ? "default_pg"
                         : t->format.naming == NAMING_MEGATRON  ? named[i].megatron
                         : t->format.naming == NAMING_UNDEFINED ? "undefined"
                                                                : named[i].mesh;
        list_members(g);
    }
}

static void split_sizes(struct trace *t, const char *key, const int64_t *values, int n)
{
    char text[LISTED * 12 + 8];
    list(text, sizeof text, values, n);
    arg_text(t, key, text, false);
}

void collective_args(struct trace *t, const struct collective *c, bool of_operator)
{
    static const char *const names[] = {
        [OP_ALL_REDUCE] = "allreduce",
        [OP_ALL_GATHER] = "_allgather_base",
        [OP_REDUCE_SCATTER] = "_reduce_scatter_base",
        [OP_DISPATCH] = "all_to_allv",
        [OP_COMBINE] = "all_to_allv",
        [OP_SEND] = "send",
        [OP_RECV] = "recv",
        [OP_EXCHANGE] = "coalesced",
    };
    const struct named_group *g = &t->groups[c->axis];

    if (t->job->age == AGE_2022 || t->format.no_groups)
        return;
    arg_text(t, "Collective name", names[c->operation], true);
    arg_int(t, "In msg nelems", c->in, false);
    arg_int(t, "Out msg nelems", c->out, false);
    arg_int(t, "Group size", g->group.n, false);
    arg_text(t, "dtype", "BFloat16", false);
    split_sizes(t, "In split size", c->sent, c->nsplits);
    split_sizes(t, "Out split size", c->received, c->nsplits);
    if (of_operator) {
        arg_int(t, "Global rank start", g->group.first, false);
        arg_int(t, "Global rank stride", g->group.stride, false);
    }
    arg_text(t, "Process Group Name", g->name, false);
    arg_text(t, "Process Group Description", g->description, false);
    arg_text(t, "Process Group Ranks", g->members, false);
    if (t->job->age == AGE_2024 || t->format.no_seq)
        return;
    arg_int(t, "Seq", c->seq, false);
    if (c->from >= 0) {
        arg_int(t, "Src Rank", c->from, false);
        arg_int(t, "Dst Rank", c->to, false);
    }
}
