/* describe.c - tlmpi describe: the manual of a result file; tables are described from their schemas. */
#include "cli.h"
#include "tlmpi/analysis/diff.h"
#include "tlmpi/analysis/rank/idle.h"
#include "tlmpi/analysis/rank/time/repetition_tables.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/analysis/verdict/whatif.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/work_tables.h"
#include "tlmpi/report/format/wrap.h"

#include <stdlib.h>
#include <string.h>

/* Columns of a page: name, type, unit, role; the meaning takes the rest of the line. */
enum { TYPE_AT = 20, UNIT_AT = 28, ROLE_AT = 34, DOC_AT = 43 };

/* Prints a word and pads to column `next` of the page, with at least one space; returns the column reached. */
static size_t print_padded(FILE *out, size_t at, const char *word, size_t next)
{
    at += strlen(word);
    int pad = at < next ? (int)(next - at) : 1;
    fprintf(out, "%s%*s", word, pad, "");
    return at + (size_t)pad;
}

static void describe_column(FILE *out, const tl_field *field)
{
    static const char *const types[] = {
        [TL_TYPE_I32] = "int32", [TL_TYPE_I64] = "int64", [TL_TYPE_F64] = "float64", [TL_TYPE_TIME] = "time",
        [TL_TYPE_NAME] = "name", [TL_TYPE_ENUM] = "enum", [TL_TYPE_TEXT] = "text"
    };
    static const char *const roles[] = {
        [TL_ROLE_KEY] = "key", [TL_ROLE_LABEL] = "label", [TL_ROLE_MEASURE] = "measure", [TL_ROLE_SOURCE] = "source"
    };
    size_t at = print_padded(out, print_padded(out, 0, "", 2), field->name, TYPE_AT);
    at = print_padded(out, print_padded(out, at, types[field->type], UNIT_AT), field->unit, ROLE_AT);
    at = print_padded(out, at, roles[field->role], DOC_AT);

    tl_wrap w = { .out = out, .indent = DOC_AT, .column = at };
    tl_wrap_words(&w, field->doc);
    tl_wrap_end(&w);
}

/* Prints a word and its meaning, in the columns of a page. */
static void explain(FILE *out, const char *word, const char *doc)
{
    enum { MEANING_AT = 24 };
    tl_wrap w = { .out = out,
                  .indent = MEANING_AT,
                  .column = print_padded(out, print_padded(out, 0, "", 2), word, MEANING_AT) };
    tl_wrap_words(&w, doc);
    tl_wrap_end(&w);
}

static void explain_thresholds(FILE *out, const char *option, const tl_threshold *list)
{
    fprintf(out, "\n  thresholds (%s)\n", option);
    for (const tl_threshold *t = list; t->name != NULL; t++)
        explain(out, t->name, t->doc);
}

/* ---- paragraphs ---- */

/* Prints a paragraph.  "TERM\tMEANING" has the meaning below a long term, else beside it; a line that begins with
 * spaces, as "  - so", is indented. */
static void say_line(FILE *out, const char *line)
{
    enum { MEANING_AT = 20 };
    const char *tab = strchr(line, '\t');
    size_t in = 2 + strspn(line, " ");
    tl_wrap w = { .out = out, .indent = in > 2 ? in + 2 : in, .column = in };

    fprintf(out, "%*s", (int)in, "");
    if (tab != NULL && tab - line >= MEANING_AT - 2) {
        w.indent = w.column = 6;
        fprintf(out, "%.*s\n%6s", (int)(tab - line), line, "");
    } else if (tab != NULL) {
        w.indent = w.column = MEANING_AT;
        fprintf(out, "%-*.*s", MEANING_AT - 2, (int)(tab - line), line);
    }
    tl_wrap_words(&w, tab != NULL ? tab + 1 : line);
    tl_wrap_end(&w);
}

/* ---- tables ---- */

/* Explains the labels of each enumeration of the table, once for all columns that have it. */
static void explain_values(FILE *out, const tl_schema *table, size_t first)
{
    const char *const *labels = table->fields[first].labels, *const *meanings = table->fields[first].meanings;
    for (size_t i = 0; i < first; i++)
        if (table->fields[i].labels == labels)
            return;
    if (labels == NULL)
        return;
    tl_wrap w = { .out = out, .indent = 2, .column = 2 };
    fputs("\n  ", out);
    for (size_t i = first; i < table->nfields; i++)
        if (table->fields[i].labels == labels)
            tl_wrap_printf(&w, "%s", table->fields[i].name);
    tl_wrap_end(&w);
    for (size_t i = 0; labels[i] != NULL; i++)
        explain(out, labels[i], meanings[i]);
}

static void describe_table(FILE *out, const tl_schema *table)
{
    tl_wrap w = { .out = out, .indent = 2 };
    fprintf(out, "%s - %s\n  ", table->name, table->title);
    w.column = 2;
    tl_wrap_words(&w, table->question);
    tl_wrap_end(&w);
    fprintf(out, "\n  %-*s%-*s%-*s%-*s%s\n", TYPE_AT - 2, "column", UNIT_AT - TYPE_AT, "type", ROLE_AT - UNIT_AT,
            "unit", DOC_AT - ROLE_AT, "role", "meaning");
    for (size_t i = 0; i < table->nfields; i++)
        describe_column(out, &table->fields[i]);
    for (size_t i = 0; i < table->nfields; i++)
        explain_values(out, table, i);
    if (strcmp(table->name, tl_gap_schema.name) == 0) {
        explain_thresholds(out, "--idle NAME=VALUE, in us or percent", tl_idle_thresholds);
        fputs("\n  rules\n", out);
        for (const tl_idle_rule *r = tl_idle_rules; r->word != NULL; r++)
            explain(out, r->word, r->doc);
    }
    if (strcmp(table->name, tl_launch_row_schema.name) == 0 || strcmp(table->name, tl_queue_row_schema.name) == 0)
        explain_thresholds(out, "--launch NAME=VALUE, in us or a number", tl_launch_thresholds);
    const char *const *notes = tl_manual_notes(table->name);
    for (; notes != NULL && *notes != NULL; notes++) {
        if (**notes != ' ')
            fputc('\n', out);
        say_line(out, *notes);
    }
}

static void explain_words(FILE *out)
{
    static const char *const lines[] = {
        "time: ns since the file's attribute epoch_ns (Unix time); the smallest integer where it is not known",
        "name: number of a row of /names, 4294967295 for none; tlmpi show prints the text",
        "key: rows are sorted by the keys, left to right",
        "label: says what the row is about",
        "measure: a result",
        "source: where the data came from; not part of a digest",
        ("The tables of tlmpi compat are other tools': hta is explained by Holistic Trace Analysis, tracelens by "
         "TraceLens, whose comparison of two traces is tlmpi diff: the merged tree is table diff_call_path, the "
         "summary of operators diff_operator"),
    };
    fputc('\n', out);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        tl_print_sentence(out, "%s", lines[i]);
}

/* ---- words ---- */

/* Terms used in sentences that are not words of a table. */
static const struct {
    const char *word, *meaning;
} terms[] = {
    { "balance",
      "what the job would gain if work were spread evenly, or hosts took no time: no rank is at fault for it" },
    { "blame",
      "the time that other ranks wait in collectives because a rank came later than they; it includes what that rank "
      "had waited itself and passes on" },
    { "bubble", "the time in which a pipeline stage has neither work nor a copy" },
    { "cost", "how much shorter the steps would be on average without the delay of what is named, simulated" },
    { "critical path", "the chain of work, launches and transfers across ranks that decides when the job ends" },
    { "excess", "the time that a rank works longer than its peers do for the same work; waiting does not count" },
    { "exposed", "while nothing computes on the same device; what is not exposed is hidden behind computation" },
    { "gain",
      "how much shorter the recorded steps would be if what is named took as long as its peers: the job is simulated "
      "with and without its delay; table whatif" },
    { "GPU time", "the wall time of all ranks, added up" },
    { "idle", "the time in which a device runs nothing; tables idle and gap have the reasons" },
    { "late", "in how many of the collectives that are matched with all their ranks the rank came last" },
    { "lateness",
      "how much later a rank comes to a collective than its peers because of its own work since the last one" },
    { "lost",
      "the largest parts of all GPU time in which nothing computes: idle, exposed communication and copies, and why" },
    { "peers", "ranks that do the same work: the same kernels in the same order and size" },
    { "straggler", "a rank whose own delays make others wait and the job longer" },
    { "transfer", "the part of a collective after the last of its ranks has begun: data move" },
    { "trust",
      "how far an answer can be relied on: high where nothing speaks against it, medium with one or two doubts, low "
      "with three, or one that is grave; the doubts are told beside it" },
    { "unknown",
      "communication of which the traces do not tell whether ranks waited or data moved: a rank has no trace, or what "
      "was recorded does not match" },
    { "waiting",
      "the part of a collective before the last of its ranks has begun; of a receive, before its sender has" },
};

typedef struct meanings {
    FILE *out; /* NULL: meanings are counted, not printed */
    const char *word;
    size_t n; /* meanings found */
} meanings;

/* Prints a meaning after `place`, which tells where the word has it. */
static void say_meaning(meanings *a, const char *place, const char *meaning)
{
    if (a->n++ == 0 && a->out != NULL)
        fprintf(a->out, "%s\n", a->word);
    if (a->out == NULL)
        return;
    tl_wrap w = { .out = a->out, .indent = 4, .column = 2 };
    fputs("  ", a->out);
    tl_wrap_words(&w, place);
    tl_wrap_words(&w, meaning);
    tl_wrap_end(&w);
}

/* Returns whether a column before column f of table t has the same labels. */
static bool is_told(const tl_schema *const *tables, size_t t, size_t f, const char *const *labels)
{
    for (size_t k = 0; k <= t; k++)
        for (size_t i = 0; i < (k < t ? tables[k]->nfields : f); i++)
            if (tables[k]->fields[i].labels == labels)
                return true;
    return false;
}

/* Prints the meaning of the word as the column's name (also without _ns: "gain" is gain_ns), and as one of its
 * labels. */
static void say_column(meanings *a, const char *table, const tl_field *field, bool labels)
{
    const char *unit = field->unit;
    const size_t n = strlen(a->word);
    char place[160];
    snprintf(place, sizeof place, "as %s in %s:", field->name, table);
    for (size_t i = 0; labels && field->labels[i] != NULL; i++)
        if (strcmp(field->labels[i], a->word) == 0)
            say_meaning(a, place, field->meanings[i]);
    if (strncmp(field->name, a->word, n) != 0 || (field->name[n] != '\0' && strcmp(field->name + n, "_ns") != 0))
        return;
    snprintf(place, sizeof place, "column %s of %s%s%s:", field->name, table, unit[0] != '\0' ? ", " : "", unit);
    say_meaning(a, place, field->doc);
}

/* Prints each meaning of the word: as a term, a threshold, a label of an enumeration (for its first column only), and a
 * column; with `out` NULL prints none.  Returns false if the word has no meaning. */
static bool describe_word(FILE *out, const char *word)
{
    meanings a = { .out = out, .word = word };
    size_t n;
    const tl_schema *const *tables = tl_all_schemas(&n);
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
        if (strcmp(terms[i].word, word) == 0)
            say_meaning(&a, "", terms[i].meaning);
    for (const tl_threshold *t = tl_idle_thresholds; t->name != NULL; t++)
        if (strcmp(t->name, word) == 0)
            say_meaning(&a, "a threshold of --idle:", t->doc);
    for (size_t t = 0; t < n; t++)
        for (size_t f = 0; f < tables[t]->nfields; f++) {
            const tl_field *field = &tables[t]->fields[f];
            say_column(&a, tables[t]->name, field, field->labels != NULL && !is_told(tables, t, f, field->labels));
        }
    return a.n > 0;
}

/* ---- the command ---- */

/* A subject of tlmpi describe: the list of subjects, a table, or a page. */
typedef struct entry {
    char name[64];
    const char *title;
    enum { IS_LIST, IS_TABLE, IS_PAGE, IS_PARAMETERS } is;
    tl_schema table;
    const char *const *lines; /* of a page */
} entry;

static entry *add_entry(entry *v, size_t *n, const char *name, const char *ending, const char *title)
{
    entry *e = &v[(*n)++];
    snprintf(e->name, sizeof e->name, "%s%s", name, ending);
    e->title = title;
    return e;
}

static void add_table(entry *v, size_t *n, const tl_schema *table, const char *name, const char *ending)
{
    entry *e = add_entry(v, n, name, ending, table->title);
    e->is = IS_TABLE;
    e->table = *table;
    e->table.name = e->name;
}

/* The tables that tlmpi reps and whatif print, by option. */
static const struct {
    const char *name;
    const tl_schema *table;
} reps[] = { { "reps", &tl_repetition_stat_schema },
             { "reps_compare", &tl_repetition_compare_schema },
             { "reps_each", &tl_repetition_schema },
             { "reps_kernels", &tl_repetition_work_schema },
             { "whatif_change", &tl_whatif_change_row_schema },
             { "whatif_step", &tl_whatif_step_schema },
             { "whatif_path", &tl_whatif_path_schema },
             { "whatif_top", &tl_whatif_top_schema } };

enum { NREPS = sizeof reps / sizeof reps[0] };

/* Returns all *n entries; the caller frees them. */
static entry *list_entries(size_t *n)
{
    size_t ntables, npages;
    const tl_schema *const *schemas = tl_all_schemas(&ntables);
    const tl_manual_page *pages = tl_manual_pages(&npages);
    size_t ndiff;
    const tl_schema *const *diff = tl_diff_schemas(&ndiff);
    entry *v = tl_calloc(2 + 2 * ntables + NREPS + ndiff + npages, sizeof *v);

    *n = 0;
    add_entry(v, n, "tables", "", "all that can be described");
    for (size_t i = 0; i < ntables; i++) {
        add_table(v, n, schemas[i], schemas[i]->name, "");
        if (schemas[i]->scope == TL_SCOPE_EVENT)
            add_table(v, n, &tl_row_index_schema, schemas[i]->name, "_index");
    }
    for (size_t i = 0; i < NREPS; i++)
        add_table(v, n, reps[i].table, reps[i].name, "");
    for (size_t i = 0; i < ndiff; i++)
        add_table(v, n, diff[i], diff[i]->name, "");
    add_entry(v, n, "parameters", "", "the numbers that decide")->is = IS_PARAMETERS;
    for (size_t i = 0; i < npages; i++) {
        entry *e = add_entry(v, n, pages[i].name, "", pages[i].title);
        e->is = IS_PAGE;
        e->lines = pages[i].lines;
    }
    return v;
}

/* Prints the parameters, each with its value and the reason for it. */
static void describe_parameters(FILE *out)
{
    const tl_schema *const schemas[] = { &tl_parameter_schema };
    tl_tables tables = { 0 };
    tl_tables_init(&tables, schemas, 1);
    tl_parameters_list(&tables.v[0], TL_VERDICT_ALPHA, TL_VERDICT_LEAST_COST);
    for (size_t i = 0; i < tables.v[0].n; i++) {
        const tl_parameter *row = tl_table_row(&tables.v[0], i);
        char doc[sizeof row->reason + 128];
        bool part = strcmp(row->unit, "1 in") == 0;
        snprintf(doc, sizeof doc, "%s%g%s%s (%s) - %s", part ? "1 in " : "", row->value,
                 !part && row->unit[0] != '\0' ? " " : "", part ? "" : row->unit, tl_parameter_labels[row->kind],
                 row->reason);
        explain(out, row->name, doc);
    }
    tl_tables_free(&tables);
}

static void describe_entry(FILE *out, const entry *v, size_t n, const entry *e)
{
    if (e->is == IS_TABLE) {
        describe_table(out, &e->table);
        return;
    }
    fprintf(out, "%s - %s\n", e->name, e->title);
    if (e->is == IS_PARAMETERS)
        describe_parameters(out);
    for (size_t i = 0; e->is == IS_PAGE && e->lines[i] != NULL; i++)
        say_line(out, e->lines[i]);
    const char *about = "", *last = "";
    for (size_t i = 0; e->is == IS_LIST && i < n; i++, last = about) {
        size_t place;
        about = tl_table_about(v[i].name, &place);
        if (strcmp(about, last) != 0)
            fprintf(out, "\n%s\n", about[0] != '\0' ? about : "other pages");
        fprintf(out, "  %-21s%s\n", v[i].name, v[i].title);
    }
}

static const entry *find_entry(const entry *v, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(v[i].name, name) == 0)
            return &v[i];
    return NULL;
}

static tl_status fail_unknown(const entry *v, size_t n, const char *name, tl_error *err)
{
    const char **names = tl_calloc(n + 1, sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = v[i].name;
    tl_status st = tl_fail_unknown(err, "table", name, "a result file", names, n);
    free(names);
    return st;
}

int tl_describe(const tl_cli *cli)
{
    tl_error err;
    size_t n;
    tl_status st = TL_OK;
    entry *v = list_entries(&n);

    for (size_t i = 0; i < cli->nwords && st == TL_OK; i++)
        if (find_entry(v, n, cli->words[i]) == NULL && !describe_word(NULL, cli->words[i]))
            st = fail_unknown(v, n, cli->words[i], &err);
    if (st != TL_OK) {
        free(v);
        return tl_cli_complain(cli, &err);
    }

    bool pages = false;
    size_t npages = cli->nwords > 0 ? cli->nwords : n;
    for (size_t i = 0; i < npages; i++) {
        if (i > 0)
            fputc('\n', stdout);
        const entry *e = cli->nwords > 0 ? find_entry(v, n, cli->words[i]) : &v[i];
        if (e != NULL)
            describe_entry(stdout, v, n, e);
        else
            describe_word(stdout, cli->words[i]);
        pages = pages || e != NULL;
    }
    if (pages)
        explain_words(stdout);
    free(v);
    return 0;
}
