/* reps.c - tlmpi reps: how long the device works in each repetition.
 *
 *     plan -> for each of mine { read -> find its repetitions } -> gather -> tables -> print
 *
 * Traces have nothing to do with each other here: one that fails costs its own repetitions alone.
 */
#include "tlmpi/job/reps.h"
#include "samples.h"
#include "tlmpi/base/log.h"
#include "tlmpi/job/call/exit.h"
#include "tlmpi/base/pattern.h"
#include "tlmpi/job/read/plan.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/trace/view.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct repeating {
    const tl_options *options;
    const tl_reps_options *reps;
    tl_plan plan;
    regex_t exclude;
    bool has_exclude;
    tl_bytes found; /* samples of this proc */
    tl_samples samples;
} repeating;

static bool is_first(void)
{
    return tl_par_proc() == 0;
}

/* ---- one trace ---- */

static bool excludes(void *arg, tl_text name)
{
    return regexec(arg, name.p, 0, NULL, 0) == 0; /* texts of names end with a 0 */
}

static tl_repetition_rule rule_for(repeating *r, const tl_rank_view *view)
{
    const char *rep = r->reps->rep;
    tl_repetition_rule rule = { .of = TL_REPETITION_ANNOTATION, .name = rep, .skip = r->reps->skip };
    if (rep == NULL)
        rule.of = view->nsteps > 0 ? TL_REPETITION_STEP : TL_REPETITION_FILE;
    else if (strcmp(rep, "ProfilerStep") == 0)
        rule.of = TL_REPETITION_STEP;
    else if (strcmp(rep, "one-per-file") == 0)
        rule.of = TL_REPETITION_FILE;
    if (r->has_exclude) {
        rule.excludes = excludes;
        rule.arg = &r->exclude;
    }
    return rule;
}

/* What a trace without repetitions has instead. */
static void say_none(const tl_rank_view *view, const tl_repetition_rule *rule, tl_sample *s)
{
    enum { SHOWN = 5 };
    uint32_t shown[SHOWN];
    size_t n = 0, used;

    if (rule->of != TL_REPETITION_ANNOTATION) {
        snprintf(s->words, sizeof s->words, "no ProfilerStep marks");
        return;
    }
    used = (size_t)snprintf(s->words, sizeof s->words, "no annotation '%.200s'", rule->name);
    for (size_t i = 0; i < view->ops.n && n < SHOWN; i++) {
        size_t k = 0;
        while (k < n && shown[k] != view->ops.name[i])
            k++;
        if (view->ops.kind[i] != TL_ANNOTATION || k < n)
            continue;
        shown[n++] = view->ops.name[i];
        tl_text name = tl_names_text(view->names, view->ops.name[i]);
        used += (size_t)snprintf(s->words + used, sizeof s->words - used, "%s'%.*s'", n == 1 ? "; it has " : ", ",
                                 (int)(name.n < 100 ? name.n : 100), name.p);
    }
}

static void find_repetitions(repeating *r, tl_trace *trace, tl_sample *s)
{
    const tl_rules no_rules = { .user = { 0 } };
    tl_linked linked;
    tl_link(trace, &no_rules, 0, &linked);
    const tl_repetition_rule rule = rule_for(r, &linked.view);
    s->of = rule.of;
    tl_repetition_set_find(&linked.view, &rule, &s->repetitions);
    if (s->repetitions.v.n == 0)
        say_none(&linked.view, &rule, s);
    tl_linked_free(&linked);
}

static tl_status read_one(repeating *r, const tl_plan_item *item, tl_sample *s, tl_names *names, tl_error *err)
{
    const tl_read_options reading = { .keep = TL_LINK_KEEP, .yajl_only = r->options->yajl_only };
    tl_trace trace;
    if (item->unreadable)
        return tl_fail(err, TL_EINPUT, "%s: %s", item->path, item->why);
    tl_status st = tl_trace_read(item->path, &reading, &trace, err);
    if (st == TL_OK) {
        s->damaged = trace.report.cut || trace.report.dropped > 0 || trace.report.source_fault;
        snprintf(s->words, sizeof s->words, "%s", trace.report.first_bad);
        find_repetitions(r, &trace, s);
    }
    *names = trace.events.names;
    trace.events.names = (tl_names){ 0 };
    tl_trace_free(&trace);
    return st;
}

static void name_files(const tl_plan_item *item, tl_sample *s)
{
    for (size_t i = 0; s->of == TL_REPETITION_FILE && i < s->repetitions.v.n; i++)
        tl_cell_path(s->repetitions.v.v[i].name, sizeof s->repetitions.v.v[i].name, item->path);
}

static void read_mine(repeating *r)
{
    for (size_t i = (size_t)tl_par_proc(); i < r->plan.n; i += (size_t)tl_par_nprocs()) {
        tl_sample s = { .item = i, .variant = (int32_t)r->plan.items[i].word };
        tl_names names = { 0 };
        tl_error why;
        s.status = (int32_t)read_one(r, &r->plan.items[i], &s, &names, &why);
        if (s.status != TL_OK) {
            tl_repetition_set_free(&s.repetitions);
            snprintf(s.words, sizeof s.words, "%s", why.text);
        }
        name_files(&r->plan.items[i], &s);
        tl_sample_put(&r->found, &s, &names);
        tl_repetition_set_free(&s.repetitions);
        tl_names_free(&names);
    }
}

static void gather(repeating *r)
{
    tl_bytes all;
    tl_par_gather(r->found.v, r->found.n, &all);
    if (is_first())
        tl_samples_take(&all, &r->samples);
    tl_bytes_free(&all);
}

/* ---- words ---- */

/* Repetitions of the sample without any work. */
static size_t nempty(const tl_sample *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->repetitions.v.n; i++)
        n += s->repetitions.v.v[i].works == 0;
    return n;
}

/* Works of the sample's repetitions that were left out, where none is left; else 0. */
static int64_t emptied(const tl_sample *s)
{
    int64_t excluded = 0;
    for (size_t i = 0; i < s->repetitions.v.n; i++)
        excluded += s->repetitions.v.v[i].excluded;
    return nempty(s) == s->repetitions.v.n ? excluded : 0;
}

/* Warns of work in no repetition, or in an unexpected one. */
static void warn_of(const char *path, const tl_sample *s)
{
    const tl_repetition_set *r = &s->repetitions;
    if (nempty(s) > 0 && emptied(s) == 0)
        tl_warn("%s: %zu of its %zu repetitions have no work, and count as 0", path, nempty(s), r->v.n);
    if (r->nested > 0)
        tl_warn("%s: %" PRId64 " annotations begin in another of the name on their thread, and are parts of it", path,
                r->nested);
    if (r->beside > 0)
        tl_warn("%s: %" PRId64 " repetitions begin while one of another thread is open: each has what its own thread "
                "launches; %" PRId64 " kernels or copies of other threads are in the one that began last",
                path, r->beside, r->guessed);
    if (r->unlinked > 0 && s->of != TL_REPETITION_FILE)
        tl_warn("%s: %" PRId64 " kernels or copies have no launch in the trace, and are in no repetition", path,
                r->unlinked);
    if (r->v.n > 0 && r->outside > 0)
        tl_warn("%s: %" PRId64 " kernels or copies (%.3f ms) were launched in no repetition, and are left out", path,
                r->outside, (double)r->outside_ns / 1e6);
}

static void warn(const repeating *r)
{
    char words[sizeof r->samples.v.v->words];
    tl_plan_warn(&r->plan);
    for (size_t i = 0; i < r->samples.v.n; i++) {
        const tl_sample *s = &r->samples.v.v[i];
        const char *path = r->plan.items[s->item].path;
        tl_printable(words, sizeof words, s->words);
        if (s->status != TL_OK)
            fprintf(stderr, "tlmpi: %s\n", words);
        else if (s->damaged || s->repetitions.v.n == 0)
            tl_warn("%s: %s", path, words);
        if (emptied(s) > 0)
            tl_warn("%s: %s all %" PRId64 " kernels and copies of its %zu repetition%s: no work is left", path,
                    !r->has_exclude      ? "--skip leaves out"
                    : r->reps->skip == 0 ? "--exclude leaves out"
                                         : "--exclude and --skip leave out",
                    emptied(s), s->repetitions.v.n, s->repetitions.v.n == 1 ? "" : "s");
        warn_of(path, s);
    }
}

static void name_paths(const repeating *r, tl_table *table)
{
    const tl_field *variant = tl_schema_field(table->schema, "variant"), *path = tl_schema_field(table->schema, "path");
    for (size_t i = 0; path != NULL && i < table->n; i++) {
        unsigned char *row = tl_table_row(table, i);
        int32_t v;
        memcpy(&v, row + variant->offset, sizeof v);
        tl_cell_path((char *)row + path->offset, path->size, r->options->paths[v]);
    }
}

static tl_status print(const repeating *r, tl_error *err)
{
    static const struct {
        const tl_schema *schema;
        void (*fill)(const tl_samples *samples, tl_table *out);
    } tables[] = {
        [TL_REPS_STATISTICS] = { &tl_repetition_stat_schema, tl_samples_summarise },
        [TL_REPS_EACH] = { &tl_repetition_schema, tl_samples_each },
        [TL_REPS_KERNELS] = { &tl_repetition_work_schema, tl_samples_works },
        [TL_REPS_COMPARED] = { &tl_repetition_compare_schema, tl_samples_compare },
    };
    tl_table table = { .schema = tables[r->reps->shown].schema };
    tl_printer printer = { .out = stdout,
                           .schema = table.schema,
                           .format = (tl_format)r->reps->format,
                           .unit = (tl_unit_choice)r->reps->unit,
                           .text_width = r->reps->text_width };
    tables[r->reps->shown].fill(&r->samples, &table);
    name_paths(r, &table);
    bool ok = tl_print_begin(&printer) && tl_print_rows(&printer, table.rows, table.n);
    ok = tl_print_end(&printer) && ok;
    tl_table_free(&table);
    if (fflush(stdout) != 0 || ferror(stdout))
        return tl_fail(err, TL_EOUTPUT, "standard output: it cannot be written");
    return ok ? TL_OK : tl_fail_memory(err, "the tables of repetitions");
}

/* Whether the variant has repetitions of its own: not where another path has the same traces, which count there. */
static bool has_repetitions(const repeating *r, int32_t variant)
{
    for (size_t i = 0; i < r->samples.v.n; i++)
        if (r->samples.v.v[i].variant == variant && r->samples.v.v[i].repetitions.v.n > 0)
            return true;
    return false;
}

static int exit_of(const repeating *r)
{
    size_t found = 0, bad = tl_plan_lost(&r->plan);
    for (size_t v = 0; v < r->options->npaths; v++)
        bad += !has_repetitions(r, (int32_t)v);
    for (size_t i = 0; i < r->samples.v.n; i++) {
        const tl_sample *s = &r->samples.v.v[i];
        found += s->repetitions.v.n;
        bad += s->status != TL_OK || s->damaged || s->repetitions.v.n == 0 || emptied(s) > 0;
    }
    return found == 0 ? TL_EXIT_NOTHING : bad > 0 ? TL_EXIT_PARTIAL : TL_EXIT_DONE;
}

/* ---- all of it ---- */

static tl_status begin(repeating *r, tl_error *err)
{
    if (r->reps->exclude == NULL)
        return TL_OK;
    tl_status st = tl_pattern_compile(&r->exclude, "--exclude", r->reps->exclude, err);
    r->has_exclude = st == TL_OK;
    return st;
}

int tl_reps(const tl_options *options, const tl_reps_options *reps)
{
    repeating r = { .options = options, .reps = reps };
    tl_error err = { 0 };
    int code = TL_EXIT_DONE;

    tl_status st = begin(&r, &err);
    if (st == TL_OK)
        st = tl_plan_every(options, &r.plan, &err);
    if (st == TL_OK) {
        read_mine(&r);
        gather(&r);
    }
    if (is_first()) {
        if (st == TL_OK)
            warn(&r);
        if (st == TL_OK)
            st = print(&r, &err);
        code = st == TL_OK ? exit_of(&r) : tl_exit_say(&err);
    }
    tl_par_bcast(&code, sizeof code);
    if (r.has_exclude)
        regfree(&r.exclude);
    tl_bytes_free(&r.found);
    tl_samples_free(&r.samples);
    tl_plan_free(&r.plan);
    return code;
}
