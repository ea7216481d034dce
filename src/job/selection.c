/* selection.c - of what part of the traces a run is: which, whether anything is left, and the words for it. */
#include "stages.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ----------------------------------------------------------------------------------- when the recording of the job began */

/* A trace is read once more for that.  One that cannot be read says so when it is read as all are. */
static tl_status look_at(const tl_plan_item *item, const tl_options *options, int64_t *begin_ns, tl_error *err)
{
    const tl_read_options reading = { .keep = TL_LINK_KEEP, .yajl_only = options->yajl_only };
    tl_trace trace = { .meta = TL_META_INIT };
    tl_error ignored = { 0 };
    struct stat st;

    if (item->unreadable)
        return TL_OK;
    if (stat(item->path, &st) == 0 && !S_ISREG(st.st_mode))
        return tl_fail(err, TL_EUSAGE, "%s: --time reads a trace twice, and this can be read but once", item->path);
    if (tl_trace_read(item->path, &reading, &trace, &ignored) == TL_OK) {
        int64_t ns = INT64_MAX;
        (void)tl_events_begin(&trace.events, trace.meta.has_base ? trace.meta.base_ns : 0, &ns);
        *begin_ns = tl_ns_min(*begin_ns, ns);
    }
    tl_trace_free(&trace);
    return TL_OK;
}

/* Collective: the least of what the procs have found, everywhere; 0 where none has found anything. */
static tl_status agree_on_least(int64_t *ns, tl_error *err)
{
    void *all = NULL;
    size_t n;
    tl_status st = tl_par_gather(ns, sizeof *ns, &all, &n, NULL, err);
    const int64_t *v = all;

    for (size_t i = 0; st == TL_OK && tl_is_first() && i < n / sizeof *v; i++)
        *ns = tl_ns_min(*ns, v[i]);
    free(all);
    *ns = *ns != INT64_MAX ? *ns : 0;
    tl_par_bcast(ns, sizeof *ns);
    return st;
}

static tl_status find_origin(tl_job *j, tl_error *err)
{
    int64_t begin_ns = INT64_MAX;
    tl_status st = TL_OK;

    for (size_t i = 0; i < j->plan.n && st == TL_OK; i++)
        if (i % (size_t)tl_par_nprocs() == (size_t)tl_par_proc())
            st = look_at(&j->plan.items[i], j->options, &begin_ns, err);
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        st = agree_on_least(&begin_ns, err);
    j->selection.origin_ns = begin_ns;
    return st;
}

/* ---------------------------------------------------------------------------------------------------- the selection itself */

tl_status tl_job_select(tl_job *j, tl_error *err)
{
    const tl_options *o = j->options;

    j->selected = o->steps.n > 0 || o->times.n > 0;
    j->selection = (tl_selection){ .steps = &o->steps, .times = &o->times };
    if (j->selected && j->plan.n == 0)
        return tl_fail(err, TL_EUSAGE, "--steps and --time select from traces, and there are none");
    return o->times.n > 0 ? find_origin(j, err) : TL_OK;
}

/* Proc 0: what there is, where nothing of it is selected. */
static tl_status refuse(const tl_job *j, const tl_found *found, tl_error *err)
{
    char words[TL_SELECTION_BYTES], steps[64] = "no steps", times[96] = "";
    int64_t origin_ns = j->options->times.n > 0 ? j->selection.origin_ns : found->first_ns;

    tl_selection_words(j, words);
    if (found->steps > 0)
        snprintf(steps, sizeof steps, "steps %d to %d", (int)found->first_step, (int)found->last_step);
    snprintf(times, sizeof times, "%.6g to %.6g ms", (double)tl_ns_between(found->first_ns, origin_ns) / 1e6,
             (double)tl_ns_between(found->last_ns, origin_ns) / 1e6);
    return tl_fail(err, TL_EUSAGE, "nothing is selected by %.300s: the traces have %s, and events from %s", words, steps,
                   times);
}

tl_status tl_job_check_selection(tl_job *j, tl_error *err)
{
    void *all = NULL;
    size_t n;

    if (!j->selected)
        return TL_OK;
    tl_status st = tl_par_gather(&j->found, sizeof j->found, &all, &n, NULL, err);
    const tl_found *v = all;
    if (st == TL_OK && tl_is_first()) {
        tl_found found = { 0 };
        for (size_t i = 0; i < n / sizeof *v; i++)
            tl_found_add(&found, &v[i]);
        st = found.events > 0 && found.selected == 0 ? refuse(j, &found, err) : TL_OK;
    }
    free(all);
    return tl_par_agree(st, err);
}

void tl_selection_words(const tl_job *j, char out[TL_SELECTION_BYTES])
{
    const tl_options *o = j->options;
    char list[300];
    size_t used = 0;

    *out = '\0';
    if (o->ranks.n > 0) {
        tl_ranges_text(&o->ranks, list, sizeof list);
        used += (size_t)snprintf(out + used, TL_SELECTION_BYTES - used, "ranks %s", list);
    }
    if (o->steps.n > 0) {
        tl_ranges_text(&o->steps, list, sizeof list);
        used += (size_t)snprintf(out + used, TL_SELECTION_BYTES - used, "%ssteps %s", used > 0 ? "; " : "", list);
    }
    if (o->times.n > 0) {
        tl_times_text(&o->times, list, sizeof list);
        snprintf(out + used, TL_SELECTION_BYTES - used, "%stime %s from %" PRId64 " ns", used > 0 ? "; " : "", list,
                 j->selection.origin_ns);
    }
}
