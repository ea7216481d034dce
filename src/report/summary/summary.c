/* summary.c - what a run found, on one screen: of causes and doubts, which are the last to be needed, as many as there
 * is room for. */
#include "tlmpi/report/summary.h"

#include "parts.h"
#include "tlmpi/base/bytes.h"
#include "tlmpi/report/answers/phases.h"
#include "tlmpi/report/format/wrap.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A fact that is longer is broken where it has spaces.  How many hosts or devices are named before they are counted, and
 * how much of a name is shown. */
enum { SCREEN_LINES = 24, LONG_FACT = 40, NAMED_TEXTS = 2, NAMED_BYTES = 64 };

/* ---- what was read ---- */

/* Adds a fact to a list "a, b, c", in which each is kept together where it fits a line. */
__attribute__((format(printf, 2, 3))) static void add_fact(tl_bytes *list, const char *format, ...)
{
    char fact[320];
    va_list args;
    va_start(args, format);
    vsnprintf(fact, sizeof fact, format, args);
    va_end(args);
    for (char *p = fact; strlen(fact) + 1 < LONG_FACT && (p = strchr(p, ' ')) != NULL;)
        *p = *TL_KEPT;
    tl_bytes_put(list, ", ", list->n > 0 ? 2 : 0);
    tl_bytes_put(list, fact, strlen(fact));
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds one or two distinct texts of a column of table rank (`size` bytes at `offset`), else how many differ.  Empty
 * texts do not count. */
static void add_distinct(tl_bytes *list, const tl_summary *s, size_t offset, size_t size, const char *before,
                         const char *many)
{
    size_t n = 0, distinct = 0;
    char *copies = tl_calloc(s->ranks->n + 1, size + 1); /* a full cell has no 0 after it */
    char **texts = tl_calloc(s->ranks->n + 1, sizeof *texts);

    for (size_t i = 0; i < s->ranks->n; i++) {
        char *copy = copies + i * (size + 1);
        const char *text = (const char *)tl_table_row(s->ranks, i) + offset;
        memcpy(copy, text, offset == offsetof(tl_rank, host) ? tl_host_length(text, size) : size);
        if (*copy != '\0')
            texts[n++] = copy;
    }
    qsort(texts, n, sizeof *texts, compare_texts);
    for (size_t i = 0; i < n; i++)
        if (distinct == 0 || strcmp(texts[i], texts[distinct - 1]) != 0)
            texts[distinct++] = texts[i];

    if (distinct > 0 && offset == offsetof(tl_rank, host) && tl_is_host_of_pids(texts[0], size))
        add_fact(list, "%zu host%s (not named)", distinct, distinct == 1 ? "" : "s");
    else if (distinct > NAMED_TEXTS)
        add_fact(list, "%zu %s", distinct, many);
    else if (distinct == NAMED_TEXTS)
        add_fact(list, "%s%.*s and %.*s", before, NAMED_BYTES, texts[0], NAMED_BYTES, texts[1]);
    else if (distinct == 1)
        add_fact(list, "%s%.*s", before, NAMED_BYTES, texts[0]);
    free(texts);
    free(copies);
}

/* Adds "steps 4-6", from the first that a rank has to the last. */
static void add_steps(tl_bytes *list, const tl_summary *s)
{
    int32_t low = INT32_MAX, high = INT32_MIN;
    TL_ROWS (const tl_step, row, s->steps) {
        low = row->step < low ? row->step : low;
        high = row->step > high ? row->step : high;
    }
    if (low == high)
        add_fact(list, "step %" PRId32, low);
    else if (low < high)
        add_fact(list, "steps %" PRId32 "-%" PRId32, low, high);
}

/* Adds "3 of 4 ranks": traces that were read, and the world size.  A world size that a rank's own number exceeds is
 * told in brackets, not counted with. */
static void add_ranks(tl_bytes *list, const tl_summary *s)
{
    int64_t nread = 0, largest = -1;
    TL_ROWS (const tl_rank, rank, s->ranks) {
        nread += rank->status != TL_RANK_UNREADABLE;
        largest = rank->rank > largest ? rank->rank : largest;
    }
    if (s->world_size <= 0)
        return;
    if (largest < s->world_size)
        add_fact(list, "%s of %s rank%s", tl_grouped(nread).text, tl_grouped(s->world_size).text,
                 tl_plural(s->world_size));
    else
        add_fact(list, "%s rank%s up to %s (world size %s in the traces)", tl_grouped(nread).text, tl_plural(nread),
                 tl_grouped(largest).text, tl_grouped(s->world_size).text);
}

static void say_inputs(FILE *out, const tl_summary *s, const tl_look *look)
{
    tl_bytes list = { 0 };
    int64_t bytes = 0, events = 0;
    TL_ROWS (const tl_rank, rank, s->ranks) {
        bytes += rank->file_bytes;
        events += rank->events;
    }

    add_fact(&list, "%s trace%s", tl_grouped((int64_t)s->ranks->n).text, tl_plural((int64_t)s->ranks->n));
    add_ranks(&list, s);
    add_fact(&list, "%s", tl_bytes_in_words(bytes).text);
    add_fact(&list, "%s event%s", tl_grouped(events).text, tl_plural(events));
    add_fact(&list, "%.2f s on %d proc%s", s->seconds, s->nprocs, tl_plural(s->nprocs));
    add_steps(&list, s);
    add_distinct(&list, s, offsetof(tl_rank, host), sizeof((tl_rank *)NULL)->host, "host ", "hosts");
    add_distinct(&list, s, offsetof(tl_rank, device_name), sizeof((tl_rank *)NULL)->device_name, "", "kinds of device");

    tl_bytes_put(&list, "", 1);
    fprintf(out, "%stlmpi %s%s ", look->bold, s->version, look->off);
    tl_wrap w = { .out = out, .indent = 2, .column = strlen("tlmpi ") + strlen(s->version) + 1, .begun = true };
    tl_say(&w, "%s", list.v);
    tl_wrap_end(&w);
    tl_bytes_free(&list);
}

/* How ranks got their numbers, where the traces themselves do not tell; and which of several runs this is. */
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

void tl_print_selection(FILE *out, const tl_summary *s)
{
    tl_wrap w = { .out = out, .indent = 2 };
    if (s->answers->selection == NULL)
        return;
    tl_say_selection(&w, s->answers);
    tl_wrap_end(&w);
}

/* ---- what was written ---- */

static bool is_memory_alone(const tl_summary *s)
{
    return s->ranks->n == 0 && s->phase_files->n == 0 && s->memory->n > 0;
}

static void say_output(FILE *out, const tl_summary *s)
{
    if (s->output == NULL)
        return;
    char path[1000];
    tl_shell_word(path, sizeof path, s->output);
    tl_wrap w = { .out = out, .indent = 2 };
    tl_say(&w, "Wrote");
    tl_wrap_printf(&w, "%s", path);
    tl_say(&w, "(%s).", tl_bytes_in_words(s->output_bytes).text);
    if (is_memory_alone(s))
        tl_wrap_printf(&w, "Next: tlmpi show %s memory_category", path);
    else if (tl_whole_row(s, -1) != NULL || s->answers->phases != NULL)
        tl_wrap_printf(&w, "Next: tlmpi ask %s", path);
    else /* nothing to ask for: what the traces hold */
        tl_wrap_printf(&w, "Next: tlmpi show %s rank", path);
    tl_wrap_end(&w);
}

/* ---- all of it ---- */

/* How many causes of lost time and doubts are told. */
typedef struct detail {
    size_t losses;
    int doubts;
} detail;

static void print_found(FILE *out, const tl_summary *s, const tl_look *look, detail told)
{
    if (is_memory_alone(s)) {
        fprintf(out, "%stlmpi %s%s no traces, memory timelines alone\n\n", look->bold, s->version, look->off);
        tl_say_memory(out, s);
        return;
    }
    if (s->answers->phases_alone) {
        tl_print_phase_summary(out, s, look);
        return;
    }
    say_inputs(out, s, look);
    say_numbering(out, s);
    tl_print_selection(out, s);
    fputc('\n', out);

    if (tl_whole_row(s, -1) != NULL) {
        tl_print_summary_table(out, s, look);
        fputc('\n', out);
        tl_print_verdict(out, s->answers, told.doubts, look);
        tl_print_summary_losses(out, s, told.losses);
        if (tl_has_phases(s->answers))
            tl_print_phases_beside(out, s, look);
    } else {
        fprintf(out, s->answers->selection != NULL
                         ? "Nothing that is selected is device work: there is nothing to analyse.\n"
                         : "No trace has device work: there is nothing to analyse.\n");
    }
    tl_say_memory(out, s);
    tl_say_executions(out, s);
    tl_say_unknown_kernels(out, s);
    tl_say_events(out, s);
}

/* Lines of all but the troubles, what was written as one: how long its path is changes nothing of what is told. */
static size_t lines_of(const tl_summary *s, const tl_look *look, detail told)
{
    char *text = NULL;
    size_t n = 0, lines = s->output != NULL;
    FILE *memory = open_memstream(&text, &n);
    if (memory == NULL)
        return 0;
    print_found(memory, s, look, told);
    if (fclose(memory) == 0)
        for (size_t i = 0; i < n; i++)
            lines += text[i] == '\n';
    free(text);
    return lines;
}

void tl_print_summary(FILE *out, const tl_summary *s)
{
    static const tl_look coloured = { "\033[1m", "\033[31m", "\033[0m" }, plain = { "", "", "" };
    static const detail details[] = {
        { TL_LOSSES_MOST, TL_NDOUBTS }, { TL_LOSSES_MOST, 2 }, { 2, 2 }, { 2, 1 }, { 1, 1 }
    };
    const tl_look *look = tl_shows_colour(out) ? &coloured : &plain;
    size_t level = 0;

    while (level + 1 < sizeof details / sizeof *details && lines_of(s, look, details[level]) > SCREEN_LINES)
        level++;
    print_found(out, s, look, details[level]);
    tl_say_troubles(out, s);
    say_output(out, s);
}
