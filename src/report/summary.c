/* summary.c - what a run found, on one screen. */
#include "tlmpi/report/summary.h"

#include "summary_match.h"
#include "summary_table.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/report/terminal.h"
#include "tlmpi/report/wrap.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How many of a kind are named before the rest is counted, and how much of a host's or a device's name is shown. */
enum { NAMED_TEXTS = 2, NAMED_TROUBLES = 5, NAMED_SKIPPED = 3, NAMED_GAPS = 8, NAMED_BYTES = 64 };

/* ---- numbers as people read them ---- */

typedef struct digits {
    char text[32];
} digits;

/* 13702 -> "13 702"; four digits stay together. */
static digits grouped(int64_t value)
{
    digits plain, out = { "" };
    size_t n = (size_t)snprintf(plain.text, sizeof plain.text, "%" PRId64, value);
    size_t first = value < 0 ? 1 : 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > first && (n - i) % 3 == 0 && n - first > 4)
            out.text[at++] = ' ';
        out.text[at++] = plain.text[i];
    }
    return out;
}

static digits bytes_of(int64_t value)
{
    static const char *const units[] = { "kB", "MB", "GB", "TB", "PB", "EB" };
    digits out;
    if (value < 1000) {
        snprintf(out.text, sizeof out.text, "%" PRId64 " B", value);
        return out;
    }
    double scaled = (double)value / 1000.0;
    size_t unit = 0;
    for (; scaled >= 999.95 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        scaled /= 1000.0;
    snprintf(out.text, sizeof out.text, "%.1f %s", scaled, units[unit]);
    return out;
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- a list of facts: "a, b, c", each kept together where it fits a line ---- */

typedef struct facts {
    char v[8][320];
    size_t n;
} facts;

/* Room for one more; the callers below make fewer than there are places. */
static char *next_fact(facts *list)
{
    return list->v[list->n++];
}

#define FACT_BYTES sizeof((facts *)0)->v[0]

static void say_facts(tl_wrap *w, const facts *list)
{
    for (size_t i = 0; i < list->n; i++) {
        char text[FACT_BYTES + 1];
        snprintf(text, sizeof text, "%s%s", list->v[i], i + 1 < list->n ? "," : "");
        if (strlen(text) < TL_LINE_COLUMNS / 2)
            tl_wrap_piece(w, "%s", text);
        else
            tl_wrap_words(w, text);
    }
}

/* ---- what was read ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* One or two distinct texts of a column of the rank table (`size` bytes at `offset`), else how many there are; empty
 * ones do not count.  Nothing is said when memory is out. */
static void add_distinct(facts *list, const tl_summary *s, size_t offset, size_t size, const char *before,
                         const char *many)
{
    size_t n = 0, distinct = 0;
    char *copies = tl_calloc(s->nranks + 1, size + 1); /* a full cell has no 0 behind it */
    char **texts = tl_calloc(s->nranks + 1, sizeof *texts);
    if (copies == NULL || texts == NULL)
        goto done;

    for (size_t i = 0; i < s->nranks; i++) {
        char *copy = copies + i * (size + 1);
        memcpy(copy, (const char *)&s->ranks[i] + offset, size);
        if (*copy != '\0')
            texts[n++] = copy;
    }
    qsort(texts, n, sizeof *texts, compare_texts);
    for (size_t i = 0; i < n; i++)
        if (distinct == 0 || strcmp(texts[i], texts[distinct - 1]) != 0)
            texts[distinct++] = texts[i];

    if (distinct > NAMED_TEXTS)
        snprintf(next_fact(list), FACT_BYTES, "%zu %s", distinct, many);
    else if (distinct == NAMED_TEXTS)
        snprintf(next_fact(list), FACT_BYTES, "%s%.*s and %.*s", before, NAMED_BYTES, texts[0], NAMED_BYTES, texts[1]);
    else if (distinct == 1)
        snprintf(next_fact(list), FACT_BYTES, "%s%.*s", before, NAMED_BYTES, texts[0]);

done:
    free(texts);
    free(copies);
}

/* "3 steps (4-6)" where all ranks have the same; "2-3 steps a rank (4-6)" where they may not. */
static void add_steps(facts *list, const tl_summary *s)
{
    if (s->nsteps == 0)
        return;

    int32_t low = s->steps[0].step, high = low;
    size_t fewest = s->nsteps, most = 0, ranks = 0;
    for (size_t i = 0, n; i < s->nsteps; i += n) {
        for (n = 0; i + n < s->nsteps && s->steps[i + n].rank == s->steps[i].rank; n++) {
            low = s->steps[i + n].step < low ? s->steps[i + n].step : low;
            high = s->steps[i + n].step > high ? s->steps[i + n].step : high;
        }
        fewest = n < fewest ? n : fewest;
        most = n > most ? n : most;
        ranks++;
    }

    bool same = fewest == most && (ranks == 1 || (uint64_t)((int64_t)high - low) + 1 == most);
    char count[48], range[32];
    if (fewest == most)
        snprintf(count, sizeof count, "%zu", most);
    else
        snprintf(count, sizeof count, "%zu-%zu", fewest, most);
    if (low == high)
        snprintf(range, sizeof range, "%" PRId32, low);
    else
        snprintf(range, sizeof range, "%" PRId32 "-%" PRId32, low, high);
    snprintf(next_fact(list), FACT_BYTES, "%s step%s%s (%s)", count, most == 1 ? "" : "s", same ? "" : " a rank",
             range);
}

static void say_inputs(FILE *out, const tl_summary *s, const tl_look *look)
{
    facts list = { .n = 0 };
    int64_t bytes = 0;
    for (size_t i = 0; i < s->nranks; i++)
        bytes += s->ranks[i].file_bytes;

    snprintf(next_fact(&list), FACT_BYTES, "%s trace%s", grouped((int64_t)s->nranks).text, plural((int64_t)s->nranks));
    if (s->world_size > 0)
        snprintf(next_fact(&list), FACT_BYTES, "%s of %s ranks", grouped((int64_t)s->nranks).text,
                 grouped(s->world_size).text);
    snprintf(next_fact(&list), FACT_BYTES, "%s", bytes_of(bytes).text);
    add_steps(&list, s);
    add_distinct(&list, s, offsetof(tl_rank, host), sizeof s->ranks->host, "host ", "hosts");
    add_distinct(&list, s, offsetof(tl_rank, device_name), sizeof s->ranks->device_name, "", "kinds of device");

    char head[64];
    snprintf(head, sizeof head, "tlmpi %s", s->version);
    fprintf(out, "%s%s%s ", look->bold, head, look->off);
    tl_wrap w = { .out = out, .indent = 2, .column = strlen(head) + 1, .begun = true };
    say_facts(&w, &list);
    tl_wrap_end(&w);
}

static void say_events(FILE *out, const tl_summary *s)
{
    int64_t events = 0, dropped = 0, repaired = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        events += s->ranks[i].events;
        dropped += s->ranks[i].dropped;
        repaired += s->ranks[i].repaired;
    }
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_piece(&w, "parsed %s event%s", grouped(events).text, plural(events));
    tl_wrap_piece(&w, "in %.2f s", s->seconds);
    tl_wrap_piece(&w, "on %d proc%s;", s->nprocs, plural(s->nprocs));
    tl_wrap_piece(&w, "%s dropped,", grouped(dropped).text);
    tl_wrap_piece(&w, "%s repaired", grouped(repaired).text);
    tl_wrap_end(&w);
}

/* How ranks got their numbers, where the traces themselves do not tell. */
static void say_numbering(FILE *out, const tl_summary *s)
{
    size_t by_name = 0, by_order = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        const char *from = tl_rank_from_labels[s->ranks[i].rank_from];
        by_name += strcmp(from, "file_name") == 0;
        by_order += strcmp(from, "order") == 0;
    }
    if (by_name + by_order == 0)
        return;

    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_words(&w, "Rank numbers:");
    if (by_name > 0)
        tl_wrap_piece(&w, "%zu from the file's name%s", by_name, by_order > 0 ? "," : ".");
    if (by_order > 0)
        tl_wrap_piece(&w, "%zu by the order of the files.", by_order);
    tl_wrap_end(&w);
}

static void say_run(FILE *out, const tl_summary *s)
{
    if (s->nruns <= 1)
        return;
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_piece(&w, "Run %d of %d", s->run, s->nruns);
    tl_wrap_words(&w, s->run_asked ? "was analysed, as --run asked."
                                   : "was analysed; --run list lists them, --run N chooses.");
    tl_wrap_end(&w);
}

/* ---- what was found ---- */

/* The largest of the three losses of one row, with its name. */
static int64_t largest_loss(const tl_breakdown *row, const char **name)
{
    const struct {
        const char *name;
        int64_t ns;
    } losses[] = {
        { "idle", row->idle_ns },
        { "exposed comm", row->comm_exposed_ns },
        { "exposed copy", row->copy_exposed_ns },
    };
    size_t worst = 0;
    for (size_t i = 1; i < sizeof losses / sizeof losses[0]; i++)
        if (losses[i].ns > losses[worst].ns)
            worst = i;
    *name = losses[worst].name;
    return losses[worst].ns;
}

static void say_loss(FILE *out, const tl_summary *s, const tl_look *look)
{
    const tl_breakdown *worst = NULL;
    const char *name = "";
    int64_t ns = 0;
    size_t working = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        const tl_breakdown *row = tl_whole_row(s, s->ranks[i].rank);
        if (row == NULL || row->wall_ns == 0)
            continue;
        working++;
        const char *row_name;
        int64_t row_ns = largest_loss(row, &row_name);
        if (worst == NULL || row_ns > ns) {
            worst = row;
            name = row_name;
            ns = row_ns;
        }
    }
    if (worst == NULL)
        return;
    if (ns == 0) {
        fprintf(out, "No rank is ever idle, nor has it exposed comm or exposed copies.\n");
        return;
    }

    fprintf(out, "%sLargest loss:%s", look->bold, look->off);
    tl_wrap w = { .out = out, .indent = 2, .column = strlen("Largest loss:"), .begun = true };
    if (working > 1)
        tl_wrap_piece(&w, "rank %" PRId32 ",", worst->rank);
    tl_wrap_piece(&w, "%s", name);
    tl_wrap_piece(&w, "%.1f %%", tl_percent(ns, worst->wall_ns));
    tl_wrap_words(&w, "of its wall time");
    tl_wrap_piece(&w, "(%.1f of %.1f ms)", (double)ns / 1e6, (double)worst->wall_ns / 1e6);

    const tl_breakdown *job = tl_whole_row(s, -1);
    if (working > 1 && job != NULL) {
        ns = largest_loss(job, &name);
        tl_wrap_piece(&w, "-");
        tl_wrap_words(&w, "over all ranks it is");
        tl_wrap_piece(&w, "%s,", name);
        tl_wrap_piece(&w, "%.1f %%", tl_percent(ns, job->wall_ns));
    }
    tl_wrap_end(&w);
}

static void say_unclassified(FILE *out, const tl_summary *s)
{
    int64_t unclassified = 0, all = 0;
    size_t several = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        unclassified += s->ranks[i].unclassified_ns;
        all += s->ranks[i].kernel_ns;
        several += s->ranks[i].devices > 1;
    }
    tl_wrap w = { .out = out, .indent = 2 };
    if (unclassified > 0) {
        tl_wrap_words(&w, "Unclassified:");
        tl_wrap_piece(&w, "%.1f %%", tl_percent(unclassified, all));
        tl_wrap_words(&w,
                      "of kernel time has a name that no rule knows; it counts as compute (--rules FILE adds rules).");
        tl_wrap_end(&w);
    }
    if (several > 0) {
        tl_wrap_piece(&w, "%zu rank%s", several, several == 1 ? " has" : "s have");
        tl_wrap_words(&w, "several devices; the lines above sum over them.");
        tl_wrap_end(&w);
    }
}

/* ---- what is not there or cannot be trusted ---- */

static void say_troubles(FILE *out, const tl_summary *s, const tl_look *look)
{
    size_t troubles = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        const tl_rank *rank = &s->ranks[i];
        if (rank->status == TL_RANK_OK || rank->status > TL_RANK_UNREADABLE || ++troubles > NAMED_TROUBLES)
            continue;
        /* The cell has no 0 behind it when it is full. */
        char head[64], error[sizeof rank->error + 1] = "";
        memcpy(error, rank->error, sizeof rank->error);
        const char *label = tl_rank_status_labels[rank->status], *colon = rank->dropped > 0 || *error ? ":" : "";

        snprintf(head, sizeof head, "rank %" PRId32 " ", rank->rank);
        fprintf(out, "%s%s%s%s%s", head, look->bad, label, look->off, colon);
        tl_wrap w = { .out = out, .indent = 2, .column = strlen(head) + strlen(label) + strlen(colon), .begun = true };
        if (rank->dropped > 0)
            tl_wrap_piece(&w, "%s event%s lost%s", grouped(rank->dropped).text, plural(rank->dropped),
                          *error ? ";" : "");
        tl_wrap_words(&w, error);
        tl_wrap_end(&w);
    }
    if (troubles > NAMED_TROUBLES)
        fprintf(out, "%zu more not ok: see status and error of table rank.\n", troubles - NAMED_TROUBLES);
}

static void say_missing(FILE *out, const tl_summary *s)
{
    if (s->nmissing == 0)
        return;

    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_piece(&w, "No trace of %s rank%s:", grouped((int64_t)s->nmissing).text, plural((int64_t)s->nmissing));
    size_t gaps = 0, named = 0;
    for (size_t i = 0, n; i < s->nmissing_listed && gaps < NAMED_GAPS; i += n, gaps++) {
        const int64_t *first = &s->missing[i];
        for (n = 1; i + n < s->nmissing_listed && first[n] == first[n - 1] + 1; n++)
            ;
        named += n;
        const char *comma = named < s->nmissing ? "," : "";
        if (n == 1)
            tl_wrap_piece(&w, "%" PRId64 "%s", first[0], comma);
        else
            tl_wrap_piece(&w, "%" PRId64 "-%" PRId64 "%s", first[0], first[n - 1], comma);
    }
    if (named < s->nmissing)
        tl_wrap_piece(&w, "and %s more", grouped((int64_t)(s->nmissing - named)).text);
    tl_wrap_end(&w);
}

static void say_skipped(FILE *out, const tl_summary *s)
{
    for (size_t i = 0; i < s->nskipped && i < NAMED_SKIPPED; i++) {
        tl_wrap w = { .out = out, .indent = 2 };
        tl_wrap_words(&w, "Left alone:");
        tl_wrap_words(&w, s->skipped[i]);
        tl_wrap_end(&w);
    }
    if (s->nskipped > NAMED_SKIPPED)
        fprintf(out, "and %zu more: tlmpi check names them.\n", s->nskipped - NAMED_SKIPPED);
}

/* ---- what was written ---- */

/* The path as a word for a shell. */
static void quote(char *out, size_t n, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-=:,@%";
    if (path[strspn(path, plain)] == '\0' || strchr(path, '\'') != NULL)
        snprintf(out, n, "%s", path);
    else
        snprintf(out, n, "'%s'", path);
}

static void say_output(FILE *out, const tl_summary *s)
{
    if (s->output == NULL)
        return;
    char path[1000];
    quote(path, sizeof path, s->output);
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_piece(&w, "Wrote");
    tl_wrap_piece(&w, "%s", path);
    tl_wrap_piece(&w, "(%s).", bytes_of(s->output_bytes).text);
    tl_wrap_piece(&w, "Next: tlmpi show %s breakdown", path);
    tl_wrap_end(&w);
}

void tl_print_summary(FILE *out, const tl_summary *s)
{
    static const tl_look coloured = { "\033[1m", "\033[31m", "\033[0m" }, plain = { "", "", "" };
    const tl_look *look = tl_shows_colour(out) ? &coloured : &plain;

    say_inputs(out, s, look);
    say_events(out, s);
    say_numbering(out, s);
    say_run(out, s);
    fputc('\n', out);

    if (tl_whole_row(s, -1) != NULL) {
        tl_print_summary_table(out, s, look);
        fputc('\n', out);
        say_loss(out, s, look);
    } else {
        fprintf(out, "No trace has device work: there is nothing to break down.\n");
    }
    tl_say_matching(out, s);
    say_unclassified(out, s);
    say_troubles(out, s, look);
    say_missing(out, s);
    say_skipped(out, s);
    say_output(out, s);
}
