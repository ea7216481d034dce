/* phases.c - what durations of phases tell, where there is no trace, or beside traces:
 *
 *     tlmpi 0.1.0  8 files of phases, 8 ranks, 90 steps, 2 160 records, 0.05 s on 4 procs
 *
 *     Rank 3 holds the job up in 90 of 90 steps - in host_to_device it takes 60.1 ms longer than its peers
 *       others  Yes: 7 ranks take 59.8 ms a step longer in training_step
 */
#include "parts.h"

#include "tlmpi/report/answers/phases.h"
#include <inttypes.h>
#include <string.h>

enum { ALSO_SHOWN = 2 };

static void say_files(FILE *out, const tl_summary *s, const tl_look *look)
{
    int64_t records = 0, ranks = 0;
    TL_ROWS (const tl_phase_file, file, s->phase_files)
        records += file->records;
    const tl_phase *first = tl_table_row(s->phases, 0);
    TL_ROWS (const tl_phase, row, s->phases)
        ranks += row == first || row->rank != row[-1].rank;
    fprintf(out, "%stlmpi %s%s ", look->bold, s->version, look->off);
    tl_wrap w = { .out = out, .indent = 2, .column = strlen("tlmpi ") + strlen(s->version) + 1, .begun = true };
    tl_say(&w, "%zu~file%s~of~phases, %s~rank%s, %s~record%s, %.2f~s~on~%d~proc%s", s->phase_files->n,
           tl_plural((int64_t)s->phase_files->n), tl_grouped(ranks).text, tl_plural(ranks), tl_grouped(records).text,
           tl_plural(records), s->seconds, s->nprocs, tl_plural(s->nprocs));
    tl_wrap_end(&w);
}

static void say_missing(FILE *out, const tl_summary *s)
{
    int64_t missing = 0;
    TL_ROWS (const tl_phase, row, s->phases)
        missing += row->missing;
    if (missing > 0)
        tl_print_sentence(out, "%s~record%s missing that most ranks have (table phase)", tl_grouped(missing).text,
                          missing == 1 ? " is" : "s are");
}

/* What the durations tell.  `beside` traces their steps are told, which may be others than the traces', and less else. */
static void say_verdict(FILE *out, const tl_summary *s, const tl_look *look, bool beside)
{
    const tl_answers *a = s->answers;
    bool named = a->phases->verdict == TL_PHASE_STRAGGLER;
    tl_wrap w = { .out = out, .indent = 2 };

    fputs(named ? look->bold : "", out);
    if (beside)
        tl_say(&w, "Phases~of~%" PRId64 "~step%s:", a->phases->steps, tl_plural(a->phases->steps));
    tl_say_phase_rank(&w, a);
    fputs(named ? look->off : "", out);
    tl_say_phase_reason(tl_label(&w, "phase"), a);
    if (named && !beside)
        tl_say_phase_waiting(tl_label(&w, "others"), a);
    if (named)
        tl_say_phase_cost(tl_label(&w, "cost"), a);
    for (size_t i = 1, n = 0; i < a->nphases && n < ALSO_SHOWN && !beside; i++)
        if (&a->phases[i] != tl_phase_told_of(a)) {
            tl_say_phase_also(tl_label(&w, "also"), &a->phases[i]);
            n++;
        }
    if (!beside)
        tl_say(tl_label(&w, "trust"), "%s", tl_confidence_labels[a->phases->confidence]);
    tl_label_end(&w);
    say_missing(out, s);
}

void tl_print_phase_summary(FILE *out, const tl_summary *s, const tl_look *look)
{
    say_files(out, s, look);
    tl_print_selection(out, s);
    fputc('\n', out);
    say_verdict(out, s, look, false);
}

void tl_print_phases_beside(FILE *out, const tl_summary *s, const tl_look *look)
{
    say_verdict(out, s, look, true);
}
