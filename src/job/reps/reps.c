/* reps.c - tlmpi reps: how long the device works in each repetition.
 *
 *     plan -> for each of mine { read -> find its repetitions } -> gather -> tables -> print
 *
 * Traces are independent of each other: a failure loses the repetitions of one trace only.
 */
#include "tlmpi/analysis/rank/time/repetition.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/call/exit.h"
#include "tlmpi/job/read/plan.h"
#include "tlmpi/job/reps.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/model/table.h"
#include "tlmpi/par/par.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/trace/view.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct tl_repeated {
    TL_VEC(tl_repetition) v;
    TL_VEC(tl_repetition_share) shares;
    tl_names names; /* names in the shares */
} tl_repeated;

/* ----------------------------------------------------------------------------------------------------------- tables */

/* The tables printed from the repetitions of all traces. */

TL_TABLE_DEFINE_AS(repetition_work, "rep_work", TL_REPETITION_WORK_FIELDS, TL_SCOPE_JOB, "work in repetitions",
                   "Which kernels take the time of a repetition?");

static void repeated_each(const tl_repeated *r, const tl_options *options, tl_table *out)
{
    (void)options;
    tl_table_append(out, r->v.v, r->v.n);
    tl_table_sort(out);
}

/* Fills values with a measure of the variant's repetitions, in order; returns their number. */
static size_t values_of(const tl_repeated *r, int32_t variant, int measure, int64_t *values)
{
    size_t n = 0;
    TL_EACH (const tl_repetition, row, r->v)
        if (row->variant == variant)
            values[n++] = measure == TL_REPETITION_KERNEL     ? row->kernel_ns
                          : measure == TL_REPETITION_FORWARD  ? row->forward_ns
                          : measure == TL_REPETITION_BACKWARD ? row->backward_ns
                          : measure == TL_REPETITION_BUSY     ? row->busy_ns
                          : measure == TL_REPETITION_SPAN     ? row->span_ns
                                                              : row->bubble_ns;
    tl_ns_sort(values, n);
    return n;
}

static void repeated_summarise(const tl_repeated *r, const tl_options *options, tl_table *out)
{
    int64_t *values = tl_malloc((r->v.n + 1) * sizeof *values);
    for (int32_t v = 0; v < (int32_t)options->npaths; v++) {
        int64_t empty = 0;
        TL_EACH (const tl_repetition, row, r->v)
            empty += row->variant == v && row->works == 0;
        for (int m = 0; m < TL_NREPETITION_MEASURES; m++) {
            const size_t n = values_of(r, v, m, values);
            if (n == 0)
                continue;
            tl_repetition_stat *row = tl_table_add(out);
            tl_repetition_summarise(values, n, row);
            row->variant = v;
            row->measure = (uint8_t)m;
            row->empty = empty;
            tl_cell_path(row->path, sizeof row->path, options->paths[v]);
        }
    }
    free(values);
}

static void repeated_compare(const tl_repeated *r, const tl_options *options, tl_table *out)
{
    int64_t *values = tl_malloc((r->v.n + 1) * sizeof *values), *base = tl_malloc((r->v.n + 1) * sizeof *base);
    for (int32_t v = 1; v < (int32_t)options->npaths; v++)
        for (int m = 0; m < TL_NREPETITION_MEASURES; m++) {
            const size_t n = values_of(r, v, m, values), nbase = values_of(r, 0, m, base);
            if (n == 0 || nbase == 0)
                continue;
            tl_repetition_compare *row = tl_table_add(out);
            tl_repetition_compare_with(values, n, base, nbase, row);
            row->variant = v;
            row->measure = (uint8_t)m;
            tl_cell_path(row->path, sizeof row->path, options->paths[v]);
        }
    free(values);
    free(base);
}

/* ---- kernels ---- */

/* Returns the median of `all` numbers: the n > 0 ascending numbers in v, and all - n zeros. */
static double median_with_zeros(const int64_t *v, size_t n, size_t all)
{
    size_t zeros = all - n, low = tl_lower_middle(all), high = tl_upper_middle(all);
    double a = low < zeros ? 0 : (double)v[low - zeros], b = high < zeros ? 0 : (double)v[high - zeros];
    return (a + b) / 2;
}

TL_ORDER_BY(by_name, tl_repetition_share, variant, name, total_ns)
TL_ORDER_BY(by_variant_and_name, tl_repetition_share, variant, name)

static int by_median(const void *a, const void *b)
{
    const tl_repetition_work *x = a, *y = b;
    int order = TL_ORDER(x, y, variant, DOWN(median_ns), DOWN(mean_ns));
    return order != 0 ? order : memcmp(x->name, y->name, sizeof x->name);
}

/* Fills rep, rep_stat, rep_work and rep_compare.  Each path of the options is a variant. */
static void repeated_works(const tl_repeated *r, const tl_options *options, tl_table *out)
{
    const tl_repetition_share *shares = r->shares.v;
    uint32_t *order = tl_sorted_index(r->shares.n, by_name, shares);
    int64_t *ns = tl_malloc((r->v.n + 1) * sizeof *ns), *counts = tl_malloc((r->v.n + 1) * sizeof *counts);
    size_t *all = tl_calloc(options->npaths, sizeof *all); /* number of repetitions by variant */

    TL_EACH (const tl_repetition, row, r->v)
        all[row->variant]++;
    TL_GROUPS (from, to, order, r->shares.n, by_variant_and_name, shares) {
        const tl_repetition_share *first = &shares[order[from]];
        tl_repetition_work *row = tl_table_add(out);
        const size_t n = to - from;
        int64_t total = 0;
        for (size_t i = 0; i < n; i++) {
            ns[i] = shares[order[from + i]].total_ns;
            counts[i] = shares[order[from + i]].count;
            total = tl_ns_add(total, ns[i]);
        }
        tl_ns_sort(counts, n);
        row->variant = first->variant;
        row->kind = first->kind;
        row->reps = (int64_t)n;
        row->count = median_with_zeros(counts, n, all[first->variant]);
        row->median_ns = median_with_zeros(ns, n, all[first->variant]);
        row->mean_ns = (double)total / (double)all[first->variant];
        row->max_ns = ns[n - 1];
        tl_cell_put(row->name, sizeof row->name, tl_names_text(&r->names, tl_map_get(&r->names.map, first->name)));
    }
    tl_sort(out->rows, out->n, sizeof(tl_repetition_work), by_median);
    TL_ROWS (tl_repetition_work, row, out)
        row->place = row != tl_table_row(out, 0) && row[-1].variant == row->variant ? row[-1].place + 1 : 1;
    free(order);
    free(ns);
    free(counts);
    free(all);
}

/* The outcome of one trace. */
typedef struct outcome {
    uint64_t item;   /* index in the plan */
    int32_t status;  /* tl_status */
    int32_t variant; /* index of the path on the command line */
    bool damaged;
    tl_repetition_of of;
    tl_repetition_set set; /* its repetitions and shares move to `repeated`, only their numbers stay valid */
    size_t empty;          /* repetitions without work */
    int64_t excluded;      /* works excluded from its repetitions */
    char words[1024];      /* the failure, the damage, or why there are no repetitions */
} outcome;

typedef struct repeating {
    const tl_options *options;
    const tl_reps_options *reps;
    tl_plan plan;
    TL_VEC(outcome) outcomes; /* of this proc's traces; on proc 0 after gather of all, in path order */
    tl_repeated repeated;     /* as `outcomes` */
} repeating;

/* ---- one trace ---- */

static tl_repetition_rule rule_for(const repeating *r, const tl_rank_view *view)
{
    const char *rep = r->reps->rep;
    tl_repetition_rule rule = {
        .of = TL_REPETITION_ANNOTATION, .name = rep, .skip = r->reps->skip, .exclude = r->reps->exclude
    };
    if (rep == NULL)
        rule.of = view->nsteps > 0 ? TL_REPETITION_STEP : TL_REPETITION_FILE;
    else if (strcmp(rep, "ProfilerStep") == 0)
        rule.of = TL_REPETITION_STEP;
    else if (strcmp(rep, "one-per-file") == 0)
        rule.of = TL_REPETITION_FILE;
    return rule;
}

/* Sets the reason why a trace has no repetitions. */
static void say_none(const tl_rank_view *view, const tl_repetition_rule *rule, outcome *s)
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

/* Moves the repetitions of a trace, and their shares with names, to `repeated`. */
static void keep_repetitions(repeating *r, const tl_plan_item *item, const tl_names *names, outcome *s)
{
    TL_EACH (tl_repetition, row, s->set.v) {
        row->variant = s->variant;
        row->trace = (int32_t)s->item; /* index in the plan, replaced once all traces are known */
        if (s->of == TL_REPETITION_FILE)
            tl_cell_path(row->name, sizeof row->name, item->path);
        s->empty += row->works == 0;
        s->excluded += row->excluded;
        tl_vec_push(&r->repeated.v, *row);
    }
    TL_EACH (tl_repetition_share, share, s->set.shares) {
        const tl_text name = tl_names_text(names, tl_map_get(&names->map, share->name));
        (void)tl_names_intern(&r->repeated.names, name.p, name.n);
        share->variant = s->variant;
        tl_vec_push(&r->repeated.shares, *share);
    }
    free(s->set.v.v);
    free(s->set.shares.v);
}

static tl_status read_one(repeating *r, const tl_plan_item *item, outcome *s, tl_error *err)
{
    static const tl_rules no_rules = { .user = { 0 } };
    const tl_read_options reading = { .keep = TL_LINK_KEEP, .yajl_only = r->options->yajl_only };
    tl_trace trace;
    tl_linked linked;
    if (item->unreadable)
        return tl_fail(err, TL_EINPUT, "%s: %s", item->path, item->why);
    tl_status st = tl_trace_read(item->path, &reading, &trace, err);
    if (st == TL_OK) {
        s->damaged = trace.report.cut || trace.report.dropped > 0 || trace.report.source_fault;
        snprintf(s->words, sizeof s->words, "%s", trace.report.first_bad);
        tl_link(&trace, &no_rules, 0, &linked);
        const tl_repetition_rule rule = rule_for(r, &linked.view);
        s->of = rule.of;
        tl_repetition_set_find(&linked.view, &rule, &s->set);
        if (s->set.v.n == 0)
            say_none(&linked.view, &rule, s);
        keep_repetitions(r, item, linked.view.names, s);
        tl_linked_free(&linked);
    }
    tl_trace_free(&trace);
    return st;
}

static void read_mine(repeating *r)
{
    for (size_t i = (size_t)tl_par_proc(); i < r->plan.n; i += (size_t)tl_par_nprocs()) {
        outcome s = { .item = i, .variant = (int32_t)r->plan.items[i].word };
        tl_error why;
        s.status = (int32_t)read_one(r, &r->plan.items[i], &s, &why);
        if (s.status != TL_OK)
            snprintf(s.words, sizeof s.words, "%s", why.text);
        tl_vec_push(&r->outcomes, s);
    }
}

TL_SORT_BY(by_item, outcome, item)

/* Moves everything to proc 0, and counts the readable traces of each variant. */
static void gather(repeating *r)
{
    tl_vec_move(&r->outcomes, tl_to_first, NULL);
    tl_vec_move(&r->repeated.v, tl_to_first, NULL);
    tl_vec_move(&r->repeated.shares, tl_to_first, NULL);
    tl_collect_names(&r->repeated.names);
    tl_vec_sort(&r->outcomes, by_item);
    int32_t *nth = tl_calloc(r->outcomes.n, sizeof *nth), *ntraces = tl_calloc(r->options->npaths, sizeof *ntraces);
    for (size_t i = 0; i < r->outcomes.n; i++)
        nth[i] = r->outcomes.v[i].status == TL_OK ? ntraces[r->outcomes.v[i].variant]++ : -1;
    TL_EACH (tl_repetition, row, r->repeated.v)
        row->trace = nth[row->trace];
    free(nth);
    free(ntraces);
}

/* ---- words ---- */

/* Returns the number of excluded works if no repetition has other works; else 0. */
static int64_t count_emptying_exclusions(const outcome *s)
{
    return s->empty == s->set.v.n ? s->excluded : 0;
}

/* Warns of work in no repetition, or in an unexpected one. */
static void warn_of(const char *path, const outcome *s)
{
    const tl_repetition_set *r = &s->set;
    if (s->empty > 0 && count_emptying_exclusions(s) == 0)
        tl_warn("%s: %zu of its %zu repetitions have no work, and count as 0", path, s->empty, r->v.n);
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
    char words[sizeof r->outcomes.v->words];
    tl_plan_warn(&r->plan);
    TL_EACH (const outcome, s, r->outcomes) {
        const char *path = r->plan.items[s->item].path;
        tl_printable(words, sizeof words, s->words);
        if (s->status != TL_OK)
            fprintf(stderr, "tlmpi: %s\n", words);
        else if (s->damaged || s->set.v.n == 0)
            tl_warn("%s: %s", path, words);
        if (count_emptying_exclusions(s) > 0)
            tl_warn("%s: %s all %" PRId64 " kernels and copies of its %zu repetition%s: no work is left", path,
                    r->reps->exclude == NULL ? "--skip leaves out"
                    : r->reps->skip == 0     ? "--exclude leaves out"
                                             : "--exclude and --skip leave out",
                    count_emptying_exclusions(s), s->set.v.n, s->set.v.n == 1 ? "" : "s");
        warn_of(path, s);
    }
}

static tl_status print(const repeating *r, tl_error *err)
{
    static const struct {
        const tl_schema *schema;
        void (*fill)(const tl_repeated *repeated, const tl_options *options, tl_table *out);
    } tables[] = {
        [TL_REPS_STATISTICS] = { &tl_repetition_stat_schema, repeated_summarise },
        [TL_REPS_EACH] = { &tl_repetition_schema, repeated_each },
        [TL_REPS_KERNELS] = { &tl_repetition_work_schema, repeated_works },
        [TL_REPS_COMPARED] = { &tl_repetition_compare_schema, repeated_compare },
    };
    tl_table table = { .schema = tables[r->reps->shown].schema };
    tl_printer printer = r->reps->printer;
    printer.schema = table.schema;
    tables[r->reps->shown].fill(&r->repeated, r->options, &table);
    bool ok = tl_print_begin(&printer) && tl_print_rows(&printer, table.rows, table.n);
    ok = tl_print_end(&printer) && ok;
    tl_table_free(&table);
    if (fflush(stdout) != 0 || ferror(stdout))
        return tl_fail(err, TL_EOUTPUT, "standard output: it cannot be written");
    return ok ? TL_OK : tl_fail_memory(err, "the tables of repetitions");
}

/* Returns the exit status.  A variant without repetitions is an error: if another path has the same traces, they count
 * for that path. */
static int exit_of(const repeating *r)
{
    size_t bad = tl_plan_lost(&r->plan);
    for (size_t v = 0; v < r->options->npaths; v++) {
        bool any = false;
        TL_EACH (const tl_repetition, row, r->repeated.v)
            any = any || row->variant == (int32_t)v;
        bad += !any;
    }
    TL_EACH (const outcome, s, r->outcomes)
        bad += s->status != TL_OK || s->damaged || s->set.v.n == 0 || count_emptying_exclusions(s) > 0;
    return r->repeated.v.n == 0 ? TL_EXIT_NOTHING : bad > 0 ? TL_EXIT_PARTIAL : TL_EXIT_DONE;
}

int tl_reps(const tl_options *options, const tl_reps_options *reps)
{
    repeating r = { .options = options, .reps = reps };
    tl_error err = { 0 };
    int code = TL_EXIT_DONE;

    tl_status st = tl_plan_every(options, &r.plan, &err);
    if (st == TL_OK) {
        read_mine(&r);
        gather(&r);
    }
    if (tl_par_proc() == 0) {
        if (st == TL_OK) {
            warn(&r);
            st = print(&r, &err);
        }
        code = st == TL_OK ? exit_of(&r) : tl_exit_say(&err);
    }
    tl_par_bcast(&code, sizeof code);
    free(r.outcomes.v);
    free(r.repeated.v.v);
    free(r.repeated.shares.v);
    tl_names_free(&r.repeated.names);
    tl_plan_free(&r.plan);
    return code;
}
