/* whatif.c - what the job would have taken otherwise, printed. */
#include "tell.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/report/format/words.h"

/* Tables are told in words before each, of JSON they are the values of one object. */
static bool put_table(const char *name, const char *words, const tl_table *table, const tl_whatif_print *print)
{
    tl_printer printer = { .out = stdout,
                           .schema = table->schema,
                           .format = (tl_format)print->format,
                           .unit = (tl_unit_choice)print->unit,
                           .text_width = print->text_width };
    if (print->format == TL_FORMAT_JSON)
        printf("\"%s\": ", name);
    else if (print->format == TL_FORMAT_TABLE)
        printf("\n%s\n", words);
    bool ok = tl_print_begin(&printer) && tl_print_rows(&printer, table->rows, table->n);
    return tl_print_end(&printer) && ok;
}

static void say(const tl_whatif_study *r, size_t nmissing)
{
    int64_t gain_ns = r->recorded_ns - r->time_ns;
    printf("Recorded: %s.  Replayed without a change: %s%s.\n", tl_duration(r->recorded_ns).text,
           r->error_ns == 0 ? "the same" : "off by ", r->error_ns == 0 ? "" : tl_duration(r->error_ns).text);
    if (r->changes.n == 0)
        return;
    printf("With all changes: %s, %s %s (%s).\n", tl_duration(r->time_ns).text,
           tl_duration(gain_ns < 0 ? -gain_ns : gain_ns).text, gain_ns < 0 ? "more" : "less",
           tl_part_in_words(gain_ns < 0 ? -gain_ns : gain_ns, r->recorded_ns).text);
    printf(
        "Of the critical path then, %s (as recorded %s) is explained by no work, transfer or known wait, and was left "
        "as it is%s.\n",
        tl_duration(r->unexplained_ns).text, tl_duration(r->recorded_unexplained_ns).text,
        gain_ns > 0 && gain_ns <= r->unexplained_ns ? ": it exceeds the gain, which is uncertain" : "");
    if (nmissing > 0)
        printf(
            "%zu rank%s as before: no trace of %s is here, or selected.  The critical path waits for %s %s, and more "
            "where it is not known when %s came, which then counts as transfer.\n",
            nmissing, nmissing > 1 ? "s do" : " does", nmissing > 1 ? "them" : "it", nmissing > 1 ? "them" : "it",
            tl_duration(r->untraced_ns).text, nmissing > 1 ? "they" : "it");
    printf("Not modelled: how full queues and memory would be, and what work running at once takes from other work.\n");
}

/* Warns of changes that select nothing. */
static void warn(const tl_whatif_study *r)
{
    TL_ROWS (const tl_whatif_change_row, row, &r->change_rows)
        if (row->place > 0 && row->pieces == 0)
            fprintf(stderr, "tlmpi: nothing in these traces is selected by: %s\n",
                    tl_cell_in_words(row->change, sizeof row->change).text);
}

tl_status tl_whatif_tell(const tl_whatif_study *r, const tl_whatif_print *print, size_t nmissing, tl_error *err)
{
    const struct {
        const char *name, *words;
        const tl_table *table;
    } tables[] = { { "change", "Each change alone; place 0: all together", &r->change_rows },
                   { "step", "Steps, with all changes", &r->step_rows },
                   { "path", "What binds the job: its critical path, as recorded and with all changes", &r->path_rows },
                   { "top", "What the job gains if work takes 10 % less time", &r->top_rows } };
    bool json = print->format == TL_FORMAT_JSON, ok = true, any = false;
    if (print->format == TL_FORMAT_TABLE)
        say(r, nmissing);
    warn(r);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && ok; i++) {
        if (i < 3 ? r->changes.n == 0 : r->top == 0)
            continue;
        if (print->format != TL_FORMAT_TABLE)
            fputs(!json ? any ? "\n" : "" : any ? ", " : "{ ", stdout);
        ok = put_table(tables[i].name, tables[i].words, tables[i].table, print);
        any = true;
    }
    if (json && any)
        puts("}");
    if (fflush(stdout) != 0 || ferror(stdout))
        return tl_fail(err, TL_EOUTPUT, "standard output: it cannot be written");
    return ok ? TL_OK : tl_fail_memory(err, "the tables of what-if");
}
