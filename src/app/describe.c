/* describe.c - tlmpi describe: the manual of a result file; tables are described from their schemas. */
#include "cli.h"
#include "tlmpi/analysis/diff.h"
#include "tlmpi/analysis/rank/idle.h"
#include "tlmpi/analysis/rank/time/repetition_tables.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/analysis/verdict/whatif.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/job/run.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/parameters.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/model/work_tables.h"
#include "tlmpi/report/format/words.h"

#include <stdlib.h>
#include <string.h>

/* ---- the manual (manual.txt): what no schema says of tables, pages of their own, commands, and words ---- */

extern const char *const tl_manual_text[]; /* the lines of the file; "#" ends them */

bool tl_manual_next(tl_manual_section *s, const char *kind)
{
    const size_t n = strlen(kind);
    const char *const *at = s->after != NULL ? s->after : tl_manual_text;
    while (strcmp(*at, "#") != 0 &&
           (strncmp(*at, "# ", 2) != 0 || strncmp(*at + 2, kind, n) != 0 || (*at)[2 + n] != ' '))
        at++;
    if (strcmp(*at, "#") == 0)
        return false;
    const char *name = *at + 2 + n + 1;
    const size_t length = strcspn(name, ":");
    snprintf(s->name, sizeof s->name, "%.*s", (int)length, name);
    s->title = name[length] == ':' ? name + length + 2 : "";
    s->after = s->lines = at + 1;
    while (**s->lines == '#') /* a section without lines has those of the section after it */
        s->lines++;
    return true;
}

const char *const *tl_manual_find(const char *kind, const char *name)
{
    tl_manual_section s = { .after = NULL };
    while (tl_manual_next(&s, kind))
        if (strcmp(s.name, name) == 0)
            return s.lines;
    return NULL;
}

/* ---- lines ---- */

/* A word, and the column of the page at which the next one stands, at least one space behind it. */
typedef struct cell {
    const char *word;
    size_t next;
} cell;

/* Prints n words in columns, and after them a text, which takes the rest of this line and of the following lines. */
static void explain_cells(FILE *out, const cell *cells, size_t n, const char *text)
{
    tl_wrap w = { .out = out, .column = (size_t)fprintf(out, "  "), .indent = cells[n - 1].next };
    for (size_t i = 0; i < n; i++) {
        w.column += strlen(cells[i].word);
        int pad = w.column < cells[i].next ? (int)(cells[i].next - w.column) : 1;
        fprintf(out, "%s%*s", cells[i].word, pad, "");
        w.column += (size_t)pad;
    }
    tl_wrap_words(&w, text);
    tl_wrap_end(&w);
}

static void explain_column(FILE *out, const char *name, const char *type, const char *unit, const char *role,
                           const char *meaning)
{
    explain_cells(out, (const cell[]){ { name, 20 }, { type, 28 }, { unit, 34 }, { role, 43 } }, 4, meaning);
}

static void explain(FILE *out, const char *word, const char *meaning)
{
    explain_cells(out, &(const cell){ word, 24 }, 1, meaning);
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

/* Prints the page of a table, under the name it has in the manual. */
static void describe_table(FILE *out, const tl_schema *table, const char *name)
{
    static const char *const types[] = {
        [TL_TYPE_I32] = "int32", [TL_TYPE_I64] = "int64", [TL_TYPE_F64] = "float64", [TL_TYPE_TIME] = "time",
        [TL_TYPE_NAME] = "name", [TL_TYPE_ENUM] = "enum", [TL_TYPE_TEXT] = "text"
    };
    static const char *const roles[] = {
        [TL_ROLE_KEY] = "key", [TL_ROLE_LABEL] = "label", [TL_ROLE_MEASURE] = "measure", [TL_ROLE_SOURCE] = "source"
    };
    fprintf(out, "%s - %s\n", name, table->title);
    say_line(out, table->question);
    fputc('\n', out);
    explain_column(out, "column", "type", "unit", "role", "meaning");
    for (const tl_field *f = table->fields; f < table->fields + table->nfields; f++)
        explain_column(out, f->name, types[f->type], f->unit, roles[f->role], f->doc);
    for (size_t i = 0; i < table->nfields; i++)
        explain_values(out, table, i);
    if (strcmp(name, tl_gap_schema.name) == 0) {
        explain_thresholds(out, "--idle NAME=VALUE, in us or percent", tl_idle_thresholds);
        fputs("\n  rules\n", out);
        for (const tl_idle_rule *r = tl_idle_rules; r->word != NULL; r++)
            explain(out, r->word, r->doc);
    }
    if (strcmp(name, tl_launch_row_schema.name) == 0 || strcmp(name, tl_queue_row_schema.name) == 0)
        explain_thresholds(out, "--launch NAME=VALUE, in us or a number", tl_launch_thresholds);
    if (strcmp(name, tl_operator_row_schema.name) == 0 || strcmp(name, tl_annotation_row_schema.name) == 0 ||
        strcmp(name, tl_breakdown_schema.name) == 0)
        explain_thresholds(out, "--peak NAME=VALUE, in 10^12 FLOP/s", tl_peak_thresholds);
    const char *const *notes = tl_manual_find("table", name);
    for (; notes != NULL && **notes != '#'; notes++) {
        if (**notes != ' ')
            fputc('\n', out);
        say_line(out, *notes);
    }
}

/* ---- words ---- */

/* Prints a meaning of the word after `place`, which tells where the word has it; the word itself before the first. */
static void say_meaning(FILE *out, const char *word, const char *place, const char *meaning)
{
    tl_wrap w = { .out = out, .indent = 4, .column = 2 };
    if (ftell(out) == 0)
        fprintf(out, "%s\n", word);
    fputs("  ", out);
    tl_wrap_words(&w, place);
    tl_wrap_words(&w, meaning);
    tl_wrap_end(&w);
}

/* Prints the meaning of the word as one of the column's labels, and as its name, also without _ns (gain_ns). */
static void say_column(FILE *out, const char *word, const char *table, const tl_field *field, bool labels)
{
    const char *unit = field->unit;
    const size_t n = strlen(word);
    char place[160];
    snprintf(place, sizeof place, "as %s in %s:", field->name, table);
    for (size_t i = 0; labels && field->labels[i] != NULL; i++)
        if (strcmp(field->labels[i], word) == 0)
            say_meaning(out, word, place, field->meanings[i]);
    if (strncmp(field->name, word, n) != 0 || (field->name[n] != '\0' && strcmp(field->name + n, "_ns") != 0))
        return;
    snprintf(place, sizeof place, "column %s of %s%s%s:", field->name, table, unit[0] != '\0' ? ", " : "", unit);
    say_meaning(out, word, place, field->doc);
}

/* Returns each meaning of the word: as a term, a threshold, a label of an enumeration (for the first column that has
 * it), and a column; empty: it has none.  The caller frees the text. */
static char *meanings_of(const char *word)
{
    TL_VEC(const char *const *) told = { 0 }; /* enumerations */
    char *text = NULL;
    size_t n, size;
    const tl_schema *const *tables = tl_all_schemas(&n);
    FILE *out = tl_memory_file(&text, &size);
    const char *const *term = tl_manual_find("term", word);
    if (term != NULL)
        say_meaning(out, word, "", *term);
    for (const tl_threshold *t = tl_idle_thresholds; t->name != NULL; t++)
        if (strcmp(t->name, word) == 0)
            say_meaning(out, word, "a threshold of --idle:", t->doc);
    for (size_t t = 0; t < n; t++)
        for (const tl_field *f = tables[t]->fields; f < tables[t]->fields + tables[t]->nfields; f++) {
            size_t k = 0;
            while (k < told.n && told.v[k] != f->labels)
                k++;
            const bool first = k == told.n && f->labels != NULL;
            if (first)
                tl_vec_push(&told, f->labels);
            say_column(out, word, tables[t]->name, f, first);
        }
    (void)fclose(out);
    free(told.v);
    return text;
}

/* ---- the command ---- */

/* A subject of tlmpi describe: a table, a page, or what this file prints by itself: subjects, parameters. */
typedef struct entry {
    char name[64];
    const char *title;
    const tl_schema *table;   /* NULL: no table */
    const char *const *lines; /* NULL: no page */
} entry;

typedef TL_VEC(entry) entries;

static void add_entry(entries *all, const char *name, const char *title, const char *const *lines)
{
    entry e = { .title = title, .lines = lines };
    snprintf(e.name, sizeof e.name, "%s", name);
    tl_vec_push(all, e);
}

static void add_table(entries *all, const tl_schema *table, const char *name, const char *ending)
{
    entry e = { .title = table->title, .table = table };
    snprintf(e.name, sizeof e.name, "%s%s", name, ending);
    tl_vec_push(all, e);
}

/* Returns all that can be described; the caller frees the array. */
static entries list_entries(void)
{
    static const struct {
        const char *name;
        const tl_schema *table;
    } printed[] = { { "reps", &tl_repetition_stat_schema }, /* by options of tlmpi reps and whatif */
                    { "reps_compare", &tl_repetition_compare_schema },
                    { "reps_each", &tl_repetition_schema },
                    { "reps_kernels", &tl_repetition_work_schema },
                    { "whatif_change", &tl_whatif_change_row_schema },
                    { "whatif_step", &tl_whatif_step_schema },
                    { "whatif_path", &tl_whatif_path_schema },
                    { "whatif_top", &tl_whatif_top_schema } };
    entries all = { 0 };
    size_t ntables, ndiff;
    const tl_schema *const *tables = tl_all_schemas(&ntables), *const *diff = tl_diff_schemas(&ndiff);
    tl_manual_section page = { .after = NULL };

    add_entry(&all, "tables", "all that can be described", NULL);
    for (size_t i = 0; i < ntables; i++) {
        add_table(&all, tables[i], tables[i]->name, "");
        if (tables[i]->scope == TL_SCOPE_EVENT)
            add_table(&all, &tl_row_index_schema, tables[i]->name, "_index");
    }
    for (size_t i = 0; i < sizeof printed / sizeof printed[0]; i++)
        add_table(&all, printed[i].table, printed[i].name, "");
    for (size_t i = 0; i < ndiff; i++)
        add_table(&all, diff[i], diff[i]->name, "");
    add_entry(&all, "parameters", "the numbers that decide", NULL);
    while (tl_manual_next(&page, "page"))
        add_entry(&all, page.name, page.title, page.lines);
    return all;
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

static void describe_entry(FILE *out, const entries *all, const entry *e)
{
    const char *about = "", *last = "";
    if (e->table != NULL) {
        describe_table(out, e->table, e->name);
        return;
    }
    fprintf(out, "%s - %s\n", e->name, e->title);
    for (size_t i = 0; e->lines != NULL && e->lines[i][0] != '#'; i++)
        say_line(out, e->lines[i]);
    if (strcmp(e->name, "parameters") == 0)
        describe_parameters(out);
    for (size_t i = 0; strcmp(e->name, "tables") == 0 && i < all->n; i++, last = about) {
        size_t place;
        about = tl_table_about(all->v[i].name, &place);
        if (strcmp(about, last) != 0)
            fprintf(out, "\n%s\n", about[0] != '\0' ? about : "other pages");
        fprintf(out, "  %-21s%s\n", all->v[i].name, all->v[i].title);
    }
}

/* Prints a page, or the meanings of another word.  TL_EUSAGE: the word has no meaning; *page: it is that of a page. */
static tl_status describe(FILE *out, const entries *all, const char *word, bool *page, tl_error *err)
{
    TL_EACH (const entry, e, *all)
        if (strcmp(e->name, word) == 0) {
            *page = true;
            describe_entry(out, all, e);
            return TL_OK;
        }
    char *meanings = meanings_of(word);
    const bool any = meanings[0] != '\0';
    fputs(meanings, out);
    free(meanings);
    if (any)
        return TL_OK;
    const char **names = tl_calloc(all->n, sizeof *names);
    for (size_t i = 0; i < all->n; i++)
        names[i] = all->v[i].name;
    tl_status st = tl_fail_unknown(err, "table", word, "a result file", names, sizeof *names, all->n);
    free(names);
    return st;
}

/* Prints nothing unless each word has a meaning. */
int tl_describe(const tl_cli *cli)
{
    entries all = list_entries();
    char *text = NULL;
    size_t n, words = cli->nwords > 0 ? cli->nwords : all.n;
    FILE *out = tl_memory_file(&text, &n);
    tl_error err;
    tl_status st = TL_OK;
    bool page = false;
    for (size_t i = 0; i < words && st == TL_OK; i++) {
        fputs(i > 0 ? "\n" : "", out);
        st = describe(out, &all, cli->nwords > 0 ? cli->words[i] : all.v[i].name, &page, &err);
    }
    fputs(page ? "\n" : "", out);
    for (const char *const *line = tl_manual_find("foot", "describe"); page && **line != '#'; line++)
        tl_print_sentence(out, "%s", *line);
    (void)fclose(out);
    fputs(st == TL_OK ? text : "", stdout);
    free(text);
    free(all.v);
    return st == TL_OK ? TL_EXIT_DONE : tl_cli_complain(cli, &err);
}
