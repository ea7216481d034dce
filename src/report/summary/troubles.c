/* troubles.c - what is not there, or cannot be trusted. */
#include "troubles.h"

#include "tlmpi/base/mem.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/report/answers/health.h"
#include "tlmpi/report/answers/say.h"
#include "tlmpi/report/answers/words.h"
#include "tlmpi/report/format/words.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How many of a kind are named before the rest is counted. */
enum { NAMED_TROUBLES = 5, NAMED_SKIPPED = 3 };

void tl_say_numbering(FILE *out, const tl_summary *s)
{
    int64_t by_name = 0, by_order = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        const char *from = tl_rank_from_labels[s->ranks[i].rank_from];
        by_name += strcmp(from, "file_name") == 0;
        by_order += strcmp(from, "order") == 0;
    }
    if (by_name + by_order == 0 || s->nranks == 1)
        return;

    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_words(&w, "Numbered");
    if (by_name > 0) {
        tl_wrap_words(&w, "by the file's name:");
        tl_wrap_printf(&w, "%s rank%s%s", tl_grouped(by_name).text, tl_plural(by_name), by_order > 0 ? "," : ".");
    }
    if (by_order > 0) {
        tl_wrap_words(&w, "by the order of the files:");
        tl_wrap_printf(&w, "%s rank%s.", tl_grouped(by_order).text, tl_plural(by_order));
    }
    tl_wrap_end(&w);
}

void tl_say_run(FILE *out, const tl_summary *s)
{
    if (s->nruns <= 1)
        return;
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_printf(&w, "Run %d of %d", s->run, s->nruns);
    tl_wrap_words(&w, s->run_asked ? "was analysed, as --run asked."
                                   : "was analysed; --run list lists them, --run N chooses.");
    tl_wrap_end(&w);
}

void tl_print_selection(FILE *out, const tl_summary *s)
{
    tl_wrap w = { .out = out, .indent = 2 };
    if (s->answers->selection == NULL)
        return;
    tl_say_selection(&w, s->answers);
    tl_wrap_end(&w);
}

/* Names each rank whose trace is damaged, cut or unreadable, with what was lost and where. */
static void say_losses(FILE *out, const tl_summary *s, const tl_look *look)
{
    size_t losses = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        const tl_rank *rank = &s->ranks[i];
        bool lossy =
            rank->status == TL_RANK_DAMAGED || rank->status == TL_RANK_CUT || rank->status == TL_RANK_UNREADABLE;
        if (!lossy || ++losses > NAMED_TROUBLES)
            continue;
        /* The cell has no 0 after it when it is full. */
        char head[64], error[sizeof rank->error + 1] = "";
        memcpy(error, rank->error, sizeof rank->error);
        const char *label = tl_rank_status_labels[rank->status], *colon = rank->dropped > 0 || *error ? ":" : "";

        snprintf(head, sizeof head, "rank %" PRId32 " ", rank->rank);
        fprintf(out, "%s%s%s%s%s", head, look->bad, label, look->off, colon);
        tl_wrap w = { .out = out, .indent = 2, .column = strlen(head) + strlen(label) + strlen(colon), .begun = true };
        if (rank->dropped > 0)
            tl_wrap_printf(&w, "%s event%s lost%s%s", tl_grouped(rank->dropped).text, tl_plural(rank->dropped),
                           rank->status == TL_RANK_CUT ? " and all that followed" : "", *error ? ";" : "");
        tl_wrap_words(&w, error);
        tl_wrap_end(&w);
    }
    if (losses > NAMED_TROUBLES)
        fprintf(out, "%zu more not ok: see status and error of table rank.\n", losses - NAMED_TROUBLES);
}

/* Names each memory timeline that is not ok, with what was lost and where. */
static void say_memory_losses(FILE *out, const tl_summary *s, const tl_look *look)
{
    size_t losses = 0;
    for (size_t i = 0; i < s->nmemory_files; i++) {
        const tl_memory_file *f = &s->memory_files[i];
        char words[TL_MEMORY_FILE_WORDS];
        if (f->status == TL_MEMORY_FILE_OK || ++losses > NAMED_TROUBLES)
            continue;
        tl_wrap w = { .out = out, .indent = 2 };
        tl_wrap_words(&w, "memory timeline");
        tl_wrap_printf(&w, "%s%.*s:%s", look->bad, (int)sizeof f->path, f->path, look->off);
        tl_wrap_words(&w, tl_memory_file_words(f, words));
        tl_wrap_end(&w);
    }
    if (losses > NAMED_TROUBLES)
        fprintf(out, "%zu more not ok: see status and error of table memory_file.\n", losses - NAMED_TROUBLES);
}

/* Ranks that were read and hold no device work; where none does, that has been said. */
static void say_idlers(FILE *out, const tl_summary *s)
{
    int64_t *idlers = tl_calloc(s->nranks + 1, sizeof *idlers);
    size_t n = 0;
    for (size_t i = 0; i < s->nranks; i++)
        if (s->ranks[i].status == TL_RANK_NO_GPU)
            idlers[n++] = s->ranks[i].rank;
    if (n > 0 && n < s->nranks) {
        tl_wrap w = { .out = out, .indent = 2 };
        tl_wrap_words(&w, "No device work in the trace of");
        tl_wrap_printf(&w, "%s rank%s:", tl_grouped((int64_t)n).text, tl_plural((int64_t)n));
        tl_say_ranks(&w, idlers, n, n);
        tl_wrap_end(&w);
    }
    free(idlers);
}

/* Ranks with work whose end cannot be. */
static void say_too_long(FILE *out, const tl_summary *s)
{
    int64_t *ranks = tl_calloc(s->nranks + 1, sizeof *ranks), work = 0, ns = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->nranks; i++) {
        if (s->ranks[i].too_long == 0)
            continue;
        work += s->ranks[i].too_long;
        ns = tl_ns_add(ns, s->ranks[i].too_long_ns);
        ranks[n++] = s->ranks[i].rank;
    }
    if (n > 0) {
        tl_wrap w = { .out = out, .indent = 2 };
        tl_wrap_printf(&w, "%s piece%s", tl_grouped(work).text, tl_plural(work));
        tl_wrap_words(&w, "of device work on");
        tl_wrap_printf(&w, "rank%s", tl_plural((int64_t)n));
        tl_say_ranks(&w, ranks, n, n);
        tl_wrap_words(&w, work == 1 ? "cannot have run as long as the trace says, and ends here when the next of its stream "
                                      "begins, or with the recording:"
                                    : "cannot have run as long as the trace says, and end here when the next of their "
                                      "streams begin, or with the recording:");
        tl_wrap_words(&w, tl_duration(ns).text);
        tl_wrap_words(&w, "less (table rank, too_long).");
        tl_wrap_end(&w);
    }
    free(ranks);
}

/* What is wrong with the recording itself. */
static void say_health(FILE *out, const tl_answers *a)
{
    tl_phrase words;
    for (int defect = 0; a->health != NULL && defect < TL_NDEFECTS; defect++) {
        if (!tl_health_in_words(a->health, (tl_defect)defect, &words))
            continue;
        tl_wrap w = { .out = out, .indent = 2 };
        tl_wrap_words(&w, "Recording:");
        tl_say_phrase(&w, words);
        tl_wrap_end(&w);
    }
}

static void say_missing(FILE *out, const tl_summary *s)
{
    if (s->nmissing == 0)
        return;
    tl_wrap w = { .out = out, .indent = 2 };
    tl_wrap_printf(&w, "No trace of %s rank%s:", tl_grouped((int64_t)s->nmissing).text,
                   tl_plural((int64_t)s->nmissing));
    tl_say_ranks(&w, s->missing, s->nmissing_listed, s->nmissing);
    tl_wrap_end(&w);
}

static void say_skipped(FILE *out, const tl_summary *s)
{
    for (size_t i = 0; i < s->nskipped && i < NAMED_SKIPPED; i++) {
        tl_wrap w = { .out = out, .indent = 2 };
        tl_wrap_words(&w, "Left out:");
        tl_wrap_words(&w, s->skipped[i]);
        tl_wrap_end(&w);
    }
    if (s->nskipped > NAMED_SKIPPED)
        fprintf(out, "and %zu more: tlmpi check names them.\n", s->nskipped - NAMED_SKIPPED);
}

void tl_say_troubles(FILE *out, const tl_summary *s, const tl_look *look)
{
    say_losses(out, s, look);
    say_memory_losses(out, s, look);
    say_idlers(out, s);
    say_too_long(out, s);
    say_health(out, s->answers);
    say_missing(out, s);
    say_skipped(out, s);
}
