/* selection.c - the part of the traces that a run analyses: resolves it, checks that it is not empty, and describes
 * it. */
#include "stages.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/model/phase_tables.h"
#include "tlmpi/model/side_table.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------------------ when the recording of the job began */

/* Lowers *begin_ns to the time of the trace's first event, for which the whole trace is read.  A trace that cannot be
 * read is ignored here: reading the ranks reports it. */
static tl_status find_begin(const tl_plan_item *item, const tl_options *options, int64_t *begin_ns, tl_error *err)
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
        int64_t ns, end_ns;
        if (tl_events_extent(&trace.events, &ns, &end_ns))
            *begin_ns = tl_ns_min(*begin_ns, tl_ns_between(tl_ns_sum(ns, trace.meta.has_base ? trace.meta.base_ns : 0),
                                                           item->nwindows > 0 ? item->windows[0].place.closed_ns : 0));
    }
    tl_trace_free(&trace);
    return TL_OK;
}

static tl_status find_origin(tl_job *j, tl_error *err)
{
    int64_t begin_ns = INT64_MAX;
    tl_status st = TL_OK;

    for (size_t i = 0; i < j->plan.n && st == TL_OK; i++)
        if (i % (size_t)tl_par_nprocs() == (size_t)tl_par_proc())
            st = find_begin(&j->plan.items[i], j->options, &begin_ns, err);
    st = tl_par_agree(st, err);
    if (st == TL_OK)
        tl_reduce_least(&begin_ns, 1);
    j->selection.origin_ns = begin_ns != INT64_MAX ? begin_ns : 0; /* none has told a time */
    return st;
}

/* --------------------------------------------------------------------------------------------- the selection itself */

tl_status tl_job_select(tl_job *j, tl_error *err)
{
    const tl_options *o = j->options;

    j->selected = o->steps.n > 0 || o->times.n > 0;
    j->selection = (tl_selection){ .steps = &o->steps, .times = &o->times };
    if (j->selected && j->plan.n == 0)
        return tl_fail(err, TL_EUSAGE, "--steps and --time select from traces, and there are none");
    return o->times.n > 0 ? find_origin(j, err) : TL_OK;
}

/* Collective: gathers the ranges of all procs on proc 0, sorted. */
static void gather_ranges(tl_ranges *ranges)
{
    tl_ranges all = { 0 };
    tl_collect_rows(ranges->v, ranges->n, sizeof *ranges->v, (void **)&all.v, &all.n);

    if (!tl_is_first())
        return;
    free(ranges->v);
    *ranges = (tl_ranges){ .v = all.v, .n = all.n, .cap = all.n };
    tl_ranges_sort(ranges);
}

/* Collective: merges on proc 0 what all procs have found. */
static void gather_found(tl_found *found)
{
    const tl_found own = { found->events, found->selected, found->first_ns, found->last_ns, { 0 }, { 0 }, { 0 } };
    tl_found *all = NULL; /* without ranges, which are gathered one by one */
    size_t n = 0;

    tl_collect_rows(&own, 1, sizeof own, (void **)&all, &n);
    if (n > 0)
        found->events = found->selected = 0;
    for (size_t i = 0; i < n; i++)
        tl_found_add(found, &all[i]);
    free(all);
    gather_ranges(&found->steps);
    gather_ranges(&found->taken);
    gather_ranges(&found->times);
}

/* --------------------------------------------------------------------------------------------------------- in words */

/* Adds `what` and the ranges to the list in `out`, as in "; ranks 0-3". */
static void add_words(char out[TL_SELECTION_BYTES], const char *what, const tl_ranges *ranges,
                      void (*text)(const tl_ranges *, char *, size_t))
{
    char list[300];
    size_t used = strlen(out);

    text(ranges, list, sizeof list);
    snprintf(out + used, TL_SELECTION_BYTES - used, "%s%s%s", used > 0 ? "; " : "", what, list);
}

static void add_asked(char out[TL_SELECTION_BYTES], const tl_ranges *ranks, const tl_ranges *steps,
                      const tl_ranges *times)
{
    if (ranks->n > 0)
        add_words(out, "ranks ", ranks, tl_ranges_text);
    if (steps->n > 0)
        add_words(out, "steps ", steps, tl_ranges_text);
    if (times->n > 0)
        add_words(out, "time ", times, tl_times_text);
}

/* Collects the ranges asked for that overlap none of the ranges in `there`. */
static void find_unmet(const tl_ranges *asked, const tl_ranges *there, tl_ranges *unmet)
{
    for (size_t i = 0; i < asked->n; i++)
        if (!tl_ranges_meet(there, asked->v[i]))
            tl_vec_push(unmet, asked->v[i]);
}

/* Proc 0: describes the part of the selection that exists, and the part that matches nothing.  `ranks`: the ranks that
 * are read. */
static void describe(tl_job *j, const tl_ranges *ranks)
{
    const tl_options *o = j->options;
    const tl_found *found = &j->found;
    tl_ranges no_rank = { 0 }, no_step = { 0 }, no_time = { 0 };
    find_unmet(&o->ranks, ranks, &no_rank);
    find_unmet(&o->steps, &found->taken, &no_step);
    find_unmet(&o->times, &found->times, &no_time);

    add_asked(j->selected_words, o->ranks.n > 0 ? ranks : &o->ranks, &found->taken, &o->times);
    if (o->times.n > 0) {
        size_t used = strlen(j->selected_words);
        snprintf(j->selected_words + used, TL_SELECTION_BYTES - used, " from %" PRId64 " ns", j->selection.origin_ns);
    }
    if (no_rank.n + no_step.n + no_time.n > 0) {
        const tl_selection of_unmet = { .steps = &no_step, .times = &no_time, .origin_ns = j->selection.origin_ns };
        char parts[TL_SELECTION_BYTES] = "", there[TL_SELECTION_BYTES] = "", rest[120];
        add_asked(parts, &no_rank, &no_step, &no_time);
        if (no_rank.n > 0)
            add_words(there, "ranks ", &j->plan.ranks, tl_ranges_text);
        tl_found_words(found, &of_unmet, rest, sizeof rest);
        snprintf(j->selection_notes, sizeof j->selection_notes, "nothing%s is selected by %.500s: there are %.310s%s%s",
                 tl_plan_has(&j->plan, TL_INPUT_PHASES) ? " of the traces" : "", parts, there,
                 *there != '\0' && *rest != '\0' ? "; " : "", rest);
    }
    free(no_rank.v);
    free(no_step.v);
    free(no_time.v);
}

/* Proc 0: returns the error that the selection matches nothing, with the steps and times that exist. */
static tl_status fail_nothing_selected(const tl_job *j, tl_error *err)
{
    const tl_options *o = j->options;
    char words[TL_SELECTION_BYTES] = "", there[120];

    add_asked(words, &o->ranks, &o->steps, &o->times);
    tl_found_words(&j->found, &j->selection, there, sizeof there);
    return tl_fail(err, TL_EUSAGE, "nothing is selected by %.600s: there are %s", words, there);
}

tl_status tl_job_check_selection(tl_job *j, tl_error *err)
{
    if (j->selected)
        gather_found(&j->found);
    tl_status st = TL_OK;
    if (tl_is_first()) {
        tl_ranges ranks = { 0 };
        for (size_t i = 0; i < j->plan.n; i++)
            tl_vec_push(&ranks, (tl_range){ j->plan.items[i].rank, j->plan.items[i].rank });
        if (j->selected && j->found.events > 0 && j->found.selected == 0)
            st = fail_nothing_selected(j, err);
        else if (ranks.n > 0)
            describe(j, &ranks);
        else
            add_asked(j->selected_words, &j->options->ranks, &j->options->steps, &j->options->times);
        free(ranks.v);
    }
    return tl_par_agree(st, err);
}

static void add_note(tl_job *j, const char *note)
{
    size_t used = strlen(j->selection_notes);
    snprintf(j->selection_notes + used, sizeof j->selection_notes - used, "%s%s", used > 0 ? "; " : "", note);
}

tl_status tl_job_end_selection(tl_job *j, tl_error *err)
{
    const tl_options *o = j->options;
    size_t nphases = tl_tables_get(&j->tables, &tl_phase_schema)->n;
    int64_t records = 0, timelines = 0;

    TL_ROWS (const tl_side_file, f, tl_tables_get(&j->tables, &tl_side_file_schema)) {
        records += f->kind == TL_SIDE_PHASES ? f->entries : 0;
        timelines += f->kind == TL_SIDE_MEMORY;
    }
    if (records > 0 && nphases == 0 && o->ranks.n + o->steps.n > 0) {
        if (j->plan.n == 0)
            return tl_fail(err, TL_EUSAGE, "nothing is selected by %.600s: the files of phases have nothing of them",
                           j->selected_words);
        add_note(j, "the files of phases have nothing of it");
    }
    if (nphases > 0 && o->times.n > 0)
        add_note(j, "phases are of any time, which their files do not tell");
    if (j->selected && timelines > 0)
        add_note(j, "memory timelines are whole");
    return TL_OK;
}
