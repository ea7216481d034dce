/* summary.c - the findings of a run on one screen, with as many causes of lost time and doubts as there
 * is room for. */
#include "tlmpi/report/summary.h"
#include "parts.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/report/answers/tell.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- losses */

/* Where most time is lost:
 *
 *     lost    69.0 % of GPU time: exposed waiting for other ranks (9.11 s)
 *             22.9 %: idle, the CPU did hardly anything that is recorded (longest: aten::empty) inside "# running
 *             sparse arch" - rank 2 most
 *              3.2 %: exposed transfers (420 ms)
 *
 * Losses are the parts of exposed communication, exposed copies, gaps too short to be classified, and each class of
 * idle time (table idle_summary).  GPU time is the wall time of all ranks.
 */

/* In percent: the smallest share of all GPU time for which a loss gets a line; the share of a loss from which its place
 * is named; the share above which the rest is not mentioned. */
enum { LEAST_PCT = 1, LEAST_PLACE_PCT = 10, NEARLY_ALL_PCT = 80, NAME_BYTES = 64 };

enum { LOSSES_MOST = 3 }; /* losses that are told */

/* ------------------------------------------------------------------------------------------------ a class of idle time
 */

/* Returns the name after "CLASS: "; if there is none, `without`. */
static const char *call_of(const char *key, const char *without)
{
    const char *colon = strstr(key, ": ");
    return colon != NULL ? colon + 2 : without;
}

/* Returns what kept the device waiting, in words. */
static tl_phrase doing_in_words(const tl_idle_summary *c)
{
    const tl_phrase cell = tl_cell_in_words(c->dominant_op, sizeof c->dominant_op);
    const char *key = cell.text;

    switch (c->cpu_during_gap) {
    case TL_DOING_CPU:
        return tl_phrase_of("host in %.*s", NAME_BYTES, key);
    case TL_DOING_RUNTIME:
        return tl_phrase_of("host in the call %s", call_of(key, key));
    case TL_DOING_UNTRACED:
        if (strcmp(key, "(no_cpu_op_overlap)") == 0)
            return tl_phrase_of("the CPU did nothing that is recorded");
        return tl_phrase_of("the CPU did hardly anything that is recorded (longest: %.*s)", NAME_BYTES, key);
    case TL_DOING_NO_TRACE:
        return tl_phrase_of("the CPU launched late; its trace has no operators");
    case TL_DOING_LAUNCH_ANOMALY:
        return tl_phrase_of("a kernel %s the gap started late%s%s",
                            strncmp(key, "prequeued", 9) == 0 ? "queued before" : "launched during",
                            call_of(key, "")[0] != '\0' ? ", host in the call " : "", call_of(key, ""));
    case TL_DOING_LAUNCH_OVERHEAD:
        return tl_phrase_of("the latency of launches");
    case TL_DOING_GRAPH:
        return tl_phrase_of("between the nodes of CUDA graphs");
    case TL_DOING_UNRECORDED:
        return tl_phrase_of("or at work that is not recorded: launches without work");
    case TL_DOING_DEPENDENCY:
        return tl_phrase_of("work waited for an event of another stream: %s", key);
    default:
        return tl_phrase_of("other causes");
    }
}

/* Says which annotation contained most of a late host's time, and whether the host had just waited for the device. */
static void say_place(tl_wrap *w, const tl_summary *s, const tl_idle_summary *c)
{
    double pct = tl_percent(c->annotation_ns, c->total_ns);
    bool host = c->cpu_during_gap == TL_DOING_CPU || c->cpu_during_gap == TL_DOING_RUNTIME ||
                c->cpu_during_gap == TL_DOING_UNTRACED;
    bool part = pct <= NEARLY_ALL_PCT;

    if (c->drain_type == TL_DRAIN_SYNC)
        tl_say(w, "after a device sync");
    if (host && c->annotation != TL_NO_NAME && pct >= LEAST_PLACE_PCT) {
        tl_text name = tl_names_text(s->names, c->annotation);
        char cell[NAME_BYTES + 1] = "";
        tl_cell_text(cell, NAME_BYTES, name.p, name.n);
        if (part)
            tl_say(w, "(%.1f~%%~of~it", pct);
        tl_say(w, "inside \"%s\"%s", cell, part ? ")" : "");
    }
}

static void say_class(tl_wrap *w, const tl_summary *s, const tl_idle_summary *c)
{
    size_t working = 0; /* ranks with device work */
    TL_ROWS (const tl_idle, row, s->idle)
        working += row->rank >= 0 && row->device == -1 && row->busy_ns > 0;
    tl_say(w, "idle, %s", doing_in_words(c).text);
    say_place(w, s, c);
    if (working <= 1)
        return;
    if (c->peer_ns > 0 && c->peer_ns >= c->total_ns - c->peer_ns)
        tl_say(w, "(mostly waiting for other ranks)");
    if (c->ranks > 1 && c->median_rank_ns >= c->worst_ns - c->worst_ns / 5)
        tl_say(w, "-~%" PRId32 "~ranks~alike", c->ranks);
    else
        tl_say(w, c->ranks > 1 ? "-~rank~%" PRId32 "~most" : "-~rank~%" PRId32, c->worst_rank);
}

/* ---------------------------------------------------------------------------------------------------------- losses */

typedef struct loss {
    int64_t ns;
    const char *words;           /* NULL: the loss is ... */
    const tl_idle_summary *idle; /* ... a class of gaps */
    int64_t gaps;                /* gaps too short to be classified; 0: another loss */
    bool unknown;                /* waiting or transfer */
} loss;

TL_SORT_BY(by_ns, loss, DOWN(ns))

static void add_loss(loss *of, size_t *n, loss new)
{
    if (new.ns > 0)
        *n = tl_insert(of, *n, LOSSES_MOST, &new, sizeof new, by_ns);
}

static size_t find_losses(const tl_summary *s, const tl_breakdown *all, const tl_idle *job, loss of[LOSSES_MOST])
{
    size_t n = 0;
    add_loss(of, &n, (loss){ .ns = all->comm_waiting_ns, .words = "exposed waiting for other ranks" });
    add_loss(of, &n, (loss){ .ns = all->comm_transfer_ns, .words = "exposed transfers" });
    add_loss(of, &n, (loss){ .ns = all->comm_unknown_ns, .words = "exposed communication,", .unknown = true });
    add_loss(of, &n, (loss){ .ns = all->copy_exposed_ns, .words = "exposed copies" });
    if (all->step == TL_WHOLE_STEPS) { /* gaps are classified over the whole recording only */
        add_loss(of, &n, (loss){ .ns = all->idle_ns, .words = "idle, in these steps" });
        return n;
    }
    add_loss(of, &n, (loss){ .ns = job->noise_ns, .gaps = job->noise_gaps });
    TL_ROWS (const tl_idle_summary, row, s->classes)
        if (row->rank == -1 && row->place > 0)
            add_loss(of, &n, (loss){ .ns = row->total_ns, .idle = row });
    return n;
}

static void tell_losses(tl_telling *t, const tl_summary *s, size_t most)
{
    const tl_idle *job = s->idle->n > 0 ? tl_table_row(s->idle, 0) : NULL; /* row 0 is rank -1 */
    const tl_breakdown *all = tl_whole_row(s, -1);
    loss found[LOSSES_MOST];
    if (job == NULL || job->rank != -1 || all == NULL)
        return;
    size_t n = find_losses(s, all, job, found);
    for (size_t i = 0; i < n && i < most && tl_percent(found[i].ns, all->wall_ns) >= LEAST_PCT; i++) {
        const loss *of = &found[i];
        tl_wrap *w = tl_tell(t, "lost", NULL);
        tl_wrap_printf(w, "%4.1f %%%s", tl_percent(of->ns, all->wall_ns), i == 0 ? " of GPU time:" : ":");
        if (of->idle != NULL)
            say_class(w, s, of->idle);
        else if (of->gaps > 0)
            tl_say(w, "idle, in %s gaps below %g us: many small kernels, bound by their launches",
                   tl_grouped(of->gaps).text, (double)s->noise_ns / 1e3);
        else
            tl_say(w, "%s", of->words);
        if (of->unknown)
            tl_say_comm_doubt(w, s->answers);
        tl_say(w, "(%s)", tl_duration(of->ns).text);
    }
}

/* Lines of the screen; hosts or devices that are named before they are counted; bytes shown of a name. */
enum { SCREEN_LINES = 24, NAMED_TEXTS = 2, NAMED_BYTES = 64 };

/* ---- what was read ---- */

/* Begins the first line: "tlmpi 0.1.0  ". */
static tl_wrap begin_head(FILE *out, const tl_summary *s, const tl_look *look)
{
    fprintf(out, "%stlmpi %s%s ", look->bold, s->version, look->off);
    return (tl_wrap){ .out = out, .indent = 2, .column = strlen("tlmpi ") + strlen(s->version) + 1, .begun = true };
}

/* Ends the first line with the time of the run. */
static void end_head(tl_wrap *w, const tl_summary *s)
{
    tl_say(w, "%.2f~s~on~%d~proc%s", s->seconds, s->nprocs, tl_plural(s->nprocs));
    tl_wrap_end(w);
}

/* Says one or two distinct texts of a column of table rank, else their number.  Empty texts do not count. */
static void say_distinct(tl_wrap *w, const tl_table *ranks, const char *column, const char *before, const char *many)
{
    tl_names texts = tl_distinct_texts(ranks, column);
    if (texts.n > 0 && strcmp(column, "host") == 0 &&
        tl_is_host_of_pids(tl_names_text(&texts, 0).p, tl_names_text(&texts, 0).n))
        tl_say(w, "%zu~host%s~(not~named),", texts.n, tl_plural((int64_t)texts.n));
    else if (texts.n > NAMED_TEXTS)
        tl_say(w, "%zu~%s,", texts.n, many);
    else if (texts.n > 0)
        tl_say(w, "%s%.*s%s%.*s,", before, NAMED_BYTES, tl_names_text(&texts, 0).p, texts.n > 1 ? " and " : "",
               NAMED_BYTES, texts.n > 1 ? tl_names_text(&texts, 1).p : "");
    tl_names_free(&texts);
}

/* Says "steps 4-6", from the first step of any rank to the last. */
static void say_steps(tl_wrap *w, const tl_table *steps)
{
    int32_t low = INT32_MAX, high = INT32_MIN;
    TL_ROWS (const tl_step, row, steps) {
        low = row->step < low ? row->step : low;
        high = row->step > high ? row->step : high;
    }
    if (low == high)
        tl_say(w, "step~%" PRId32 ",", low);
    else if (low < high)
        tl_say(w, "steps~%" PRId32 "-%" PRId32 ",", low, high);
}

/* Says "3 of 4 ranks": traces read, and the world size.  A world size below a rank's own number is said in brackets. */
static void say_ranks(tl_wrap *w, const tl_summary *s)
{
    int64_t nread = 0, largest = -1;
    TL_ROWS (const tl_rank, rank, s->ranks) {
        nread += rank->status != TL_RANK_UNREADABLE;
        largest = rank->rank > largest ? rank->rank : largest;
    }
    if (s->world_size > largest)
        tl_say(w, "%s~of~%s~rank%s,", tl_grouped(nread).text, tl_grouped(s->world_size).text, tl_plural(s->world_size));
    else if (s->world_size > 0)
        tl_say(w, "%s~rank%s up to %s (world size %s in the traces),", tl_grouped(nread).text, tl_plural(nread),
               tl_grouped(largest).text, tl_grouped(s->world_size).text);
}

static void say_inputs(FILE *out, const tl_summary *s, const tl_look *look)
{
    tl_wrap w = begin_head(out, s, look);
    int64_t bytes = 0, events = 0;
    TL_ROWS (const tl_rank, rank, s->ranks) {
        bytes += rank->file_bytes;
        events += rank->events;
    }
    tl_say(&w, "%zu~trace%s,", s->ranks->n, tl_plural((int64_t)s->ranks->n));
    say_ranks(&w, s);
    tl_say(&w, "%s, %s~event%s,", tl_bytes_in_words(bytes).text, tl_grouped(events).text, tl_plural(events));
    say_steps(&w, s->steps);
    say_distinct(&w, s->ranks, "host", "host" TL_KEPT, "hosts");
    say_distinct(&w, s->ranks, "device_name", "", "kinds~of~device");
    end_head(&w, s);
}

static void say_phase_files(FILE *out, const tl_summary *s, const tl_look *look)
{
    tl_wrap w = begin_head(out, s, look);
    const tl_phase *first = tl_table_row(s->phases, 0);
    int64_t files = 0, records = 0, ranks = 0;
    TL_ROWS (const tl_side_file, f, s->side_files) {
        files += f->kind == TL_SIDE_PHASES;
        records += f->kind == TL_SIDE_PHASES ? f->entries : 0;
    }
    TL_ROWS (const tl_phase, row, s->phases)
        ranks += row == first || row->rank != row[-1].rank;
    tl_say(&w, "%" PRId64 "~file%s~of~phases, %s~rank%s, %s~record%s,", files, tl_plural(files), tl_grouped(ranks).text,
           tl_plural(ranks), tl_grouped(records).text, tl_plural(records));
    end_head(&w, s);
}

/* Says how ranks got their numbers if not from the traces, and which of several runs is analysed. */
static void say_numbering(FILE *out, const tl_summary *s)
{
    int64_t by_name = 0, by_order = 0;
    TL_ROWS (const tl_rank, rank, s->ranks) {
        const char *from = tl_rank_from_labels[rank->rank_from];
        by_name += strcmp(from, "file_name") == 0;
        by_order += strcmp(from, "order") == 0;
    }
    if (by_name + by_order > 0 && s->ranks->n > 1) {
        tl_wrap w = { .out = out, .indent = 2 };
        tl_say(&w, "Numbered");
        if (by_name > 0)
            tl_say(&w, "by the file's name: %s~rank%s%s", tl_grouped(by_name).text, tl_plural(by_name),
                   by_order > 0 ? "," : ".");
        if (by_order > 0)
            tl_say(&w, "by the order of the files: %s~rank%s.", tl_grouped(by_order).text, tl_plural(by_order));
        tl_wrap_end(&w);
    }
    if (s->windows != NULL && s->windows[0] != '\0')
        tl_print_sentence(out, "%s; --run N takes one of them.", s->windows);
    else if (s->nruns > 1)
        tl_print_sentence(out, "Run~%d~of~%d was analysed%s%s", s->run, s->nruns, s->apart != NULL ? s->apart : "",
                          s->run_asked ? ", as --run asked." : "; --run list lists them, --run N chooses.");
}

/* ---- what was written ---- */

static bool is_memory_alone(const tl_summary *s)
{
    const tl_side_file *first = s->side_files->n > 0 ? tl_table_row(s->side_files, 0) : NULL;
    return s->ranks->n == 0 && s->memory->n > 0 && (first == NULL || first->kind != TL_SIDE_PHASES);
}

static void say_output(FILE *out, const tl_summary *s)
{
    if (s->output == NULL)
        return;
    const bool answers = tl_whole_row(s, -1) != NULL || s->answers->phases != NULL;
    char path[1000];
    tl_shell_word(path, sizeof path, s->output);
    tl_wrap w = { .out = out, .indent = 2 };
    tl_say(&w, "Wrote");
    tl_wrap_printf(&w, "%s", path);
    tl_say(&w, "(%s).", tl_bytes_in_words(s->output_bytes).text);
    tl_wrap_printf(&w, "Next: tlmpi %s %s%s", answers ? "ask" : "show", path,
                   answers              ? ""
                   : is_memory_alone(s) ? " memory_category"
                                        : " rank");
    tl_wrap_end(&w);
}

/* ---- what was found ---- */

/* Number of causes of lost time and of doubts to print. */
typedef struct detail {
    size_t losses;
    int doubts;
} detail;

/* Tells all answers from traces that the screen shows. */
static void tell_answers(tl_telling *t, int doubts)
{
    enum { ALSO = 2, PLACES = 2 };
    const tl_answers *a = t->a;
    const int64_t imbalance_ns = tl_largest_imbalance(a);

    tl_tell_verdict(t);
    if (a->first != NULL) {
        tl_tell_file(t);
        tl_tell_cause(t, PLACES);
        tl_tell_gain(t);
        tl_tell_also(t, ALSO);
    }
    if (a->finding >= TL_FOUND_NONE)
        tl_tell_trust(t, &a->rank, doubts);
    if (imbalance_ns > 0 && (a->first == NULL || imbalance_ns > a->first->cost_ns))
        tl_say_imbalance(tl_tell(t, "balance", NULL), a, 1);
    tl_tell_next(t);
}

static void tell_phases(tl_telling *t, const tl_summary *s)
{
    int64_t missing = 0;
    TL_ROWS (const tl_phase, row, s->phases)
        missing += row->missing;
    tl_tell_phase_rank(t);
    tl_tell_phase_reason(t);
    if (t->a->phases_alone) {
        tl_tell_phase_waiting(t);
        tl_tell_phase_trust(t);
        tl_tell_next(t);
    }
    if (missing > 0)
        tl_say(tl_tell(t, "", NULL), "%s~record%s missing that most ranks have (table phase)", tl_grouped(missing).text,
               missing == 1 ? " is" : "s are");
}

static void print_found(FILE *out, const tl_summary *s, const tl_look *look, bool coloured, detail told)
{
    tl_telling t = { .w.out = out, .a = s->answers, .coloured = coloured };
    const bool phases = s->answers->phases_alone, work = tl_whole_row(s, -1) != NULL;
    if (is_memory_alone(s)) {
        fprintf(out, "%stlmpi %s%s no traces, memory timelines alone\n\n", look->bold, s->version, look->off);
        tl_say_memory(out, s);
        return;
    }
    if (phases) {
        say_phase_files(out, s, look);
    } else {
        say_inputs(out, s, look);
        say_numbering(out, s);
    }
    if (s->answers->selection != NULL) {
        tl_wrap w = { .out = out, .indent = 2 };
        tl_say_selection(&w, s->answers);
        tl_wrap_end(&w);
    }
    fputc('\n', out);
    if (!phases && work) {
        tl_print_summary_table(out, s, look);
        fputc('\n', out);
        tell_answers(&t, told.doubts);
        tell_losses(&t, s, told.losses);
    } else if (!phases) {
        fprintf(out, "%s: there is nothing to analyse.\n",
                s->answers->selection != NULL ? "Nothing that is selected is device work" : "No trace has device work");
    }
    if (phases || (work && tl_has_phases(s->answers)))
        tell_phases(&t, s);
    tl_tell_end(&t);
    if (phases)
        return;
    tl_say_memory(out, s);
    tl_say_executions(out, s);
    tl_say_unknown_kernels(out, s);
    tl_say_events(out, s);
}

void tl_print_summary(FILE *out, const tl_summary *s)
{
    static const tl_look looks[] = { { "", "", "" }, { "\033[1m", "\033[31m", "\033[0m" } };
    static const detail details[] = { { LOSSES_MOST, TL_NDOUBTS }, { LOSSES_MOST, 2 }, { 2, 2 }, { 2, 1 }, { 1, 1 } };
    const bool coloured = tl_shows_colour(out);
    for (size_t level = 0; level < sizeof details / sizeof *details; level++) {
        char *text = NULL;
        size_t n = 0, lines = s->output != NULL;
        FILE *memory = tl_memory_file(&text, &n);
        print_found(memory, s, &looks[coloured], coloured, details[level]);
        (void)fclose(memory);
        for (size_t i = 0; i < n; i++)
            lines += text[i] == '\n';
        const bool fits = lines <= SCREEN_LINES || level + 1 == sizeof details / sizeof *details;
        if (fits)
            fwrite(text, 1, n, out);
        free(text);
        if (fits)
            break;
    }
    tl_say_troubles(out, s);
    say_output(out, s);
}
