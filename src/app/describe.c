/* describe.c - tlmpi describe: the manual of a result file; its tables from the schemas that also write them. */
#include "cli.h"
#include "suggest.h"
#include "tlmpi/analysis/idle.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/report/format/wrap.h"

#include <stdlib.h>
#include <string.h>

/* Columns of a page: name, type, unit, role; the meaning takes the rest of the line. */
enum { TYPE_AT = 20, UNIT_AT = 28, ROLE_AT = 34, DOC_AT = 43 };

static const char *type_word(tl_type type)
{
    switch (type) {
    case TL_TYPE_I32:
        return "int32";
    case TL_TYPE_I64:
        return "int64";
    case TL_TYPE_F64:
        return "float64";
    case TL_TYPE_TIME:
        return "time";
    case TL_TYPE_NAME:
        return "name";
    case TL_TYPE_ENUM:
        return "enum";
    case TL_TYPE_TEXT:
        break;
    }
    return "text";
}

static const char *role_word(tl_role role)
{
    switch (role) {
    case TL_ROLE_KEY:
        return "key";
    case TL_ROLE_LABEL:
        return "label";
    case TL_ROLE_MEASURE:
        return "measure";
    case TL_ROLE_SOURCE:
        break;
    }
    return "source";
}

/* Goes on to a column of the page, at least one space further. */
static void go_to(FILE *out, size_t *at, size_t column)
{
    do
        fputc(' ', out);
    while (++*at < column);
}

static void say_word(FILE *out, size_t *at, const char *word)
{
    fputs(word, out);
    *at += strlen(word);
}

static void describe_column(FILE *out, const tl_field *field)
{
    size_t at = 2;
    fputs("  ", out);
    say_word(out, &at, field->name);
    go_to(out, &at, TYPE_AT);
    say_word(out, &at, type_word(field->type));
    go_to(out, &at, UNIT_AT);
    say_word(out, &at, field->unit);
    go_to(out, &at, ROLE_AT);
    say_word(out, &at, role_word(field->role));
    go_to(out, &at, DOC_AT);

    tl_wrap w = { .out = out, .indent = DOC_AT, .column = at };
    tl_wrap_words(&w, field->doc);
    tl_wrap_end(&w);
    if (field->labels == NULL)
        return;
    fprintf(out, "%*s", DOC_AT, "");
    w.column = DOC_AT;
    tl_wrap_words(&w, "one of:");
    for (size_t i = 0; field->labels[i] != NULL; i++)
        tl_wrap_piece(&w, "%s%s", field->labels[i], field->labels[i + 1] != NULL ? "," : "");
    tl_wrap_end(&w);
}

/* A word and what it means, in the columns of a page. */
static void explain(FILE *out, const char *word, const char *doc)
{
    enum { MEANING_AT = 24 };
    size_t at = 2;
    fputs("  ", out);
    say_word(out, &at, word);
    go_to(out, &at, MEANING_AT);
    tl_wrap w = { .out = out, .indent = MEANING_AT, .column = at };
    tl_wrap_words(&w, doc);
    tl_wrap_end(&w);
}

/* What the labels of gaps go by. */
static void explain_idle(FILE *out)
{
    fputs("\n  cpu_during_gap\n", out);
    for (size_t i = TL_DOING_LAUNCH_ANOMALY; tl_doing_labels[i] != NULL; i++)
        explain(out, tl_doing_labels[i], tl_doing_docs[i]);
    fputs("\n  thresholds (--idle NAME=VALUE, in us or percent)\n", out);
    for (const tl_idle_threshold *t = tl_idle_thresholds; t->name != NULL; t++)
        explain(out, t->name, t->doc);
    fputs("\n  rules\n", out);
    for (const tl_idle_rule *r = tl_idle_rules; r->word != NULL; r++)
        explain(out, r->word, r->doc);
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
    if (table == &tl_gap_schema)
        explain_idle(out);
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
        "The tables of tlmpi compat are other tools': hta is explained by Holistic Trace Analysis, tracelens by TraceLens",
    };
    fputc('\n', out);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tl_wrap w = { .out = out, .indent = 2 };
        tl_wrap_words(&w, lines[i]);
        tl_wrap_end(&w);
    }
}

/* ---- what is no table of ours ---- */

/* A page of words: paragraphs, each of them a term and its meaning where it has a tab. */
typedef struct page {
    const char *name, *title;
    const char *const *lines;
} page;

static const char *const names_lines[] = {
    "/names holds one text a row (UTF-8, of any length). A column of type name holds the number of a row of it.", NULL
};

static const char *const ranks_lines[] = {
    "/ranks/00003/interval shows the rows of rank 3 in /tables/interval, and only them; so for every table that has an "
    "index, in files of up to 1024 ranks. They are views (virtual datasets), which hold nothing themselves. With more "
    "ranks there is no /ranks: the index has a rank's rows (first_row, nrows).",
    NULL,
};

static const char *const attributes_lines[] = {
    "epoch_ns\tUnix time in ns from which the file counts time",
    "Conventions\ttlmpi-1: how the file is laid out",
    "schema_version\tgoes up when a reader must know of a change",
    "creator\tthe program that wrote the file",
    "creator_version\tits version",
    "command_line\tas it was typed",
    "settings\tevery option with its value, a line each",
    "history\tUTC time and command line",
    "hostname\twhere proc 0 ran",
    "slurm_job_id\tthe batch job, if it was one",
    "git_commit\tthe commit that the program was built from, if the build knew it",
    "With --reproducible the file has none of the last six.",
    NULL,
};

static const page pages[] = {
    { "names", "texts of the names in the tables", names_lines },
    { "ranks", "the rows of one rank", ranks_lines },
    { "attributes", "what the file says of itself, on its root group", attributes_lines },
};

enum { NPAGES = sizeof pages / sizeof pages[0], TERM_BYTES = 20 };

static void describe_page(FILE *out, const page *p)
{
    fprintf(out, "%s - %s\n", p->name, p->title);
    for (const char *const *line = p->lines; *line != NULL; line++) {
        const char *tab = strchr(*line, '\t');
        tl_wrap w = { .out = out, .indent = 2, .column = 2 };
        fputs("  ", out);
        if (tab != NULL) {
            w.indent = w.column = TERM_BYTES;
            fprintf(out, "%-*.*s", TERM_BYTES - 2, (int)(tab - *line), *line);
        }
        tl_wrap_words(&w, tab != NULL ? tab + 1 : *line);
        tl_wrap_end(&w);
    }
}

/* ---- the command ---- */

/* What can be described: each table with its index, where it has one, then the pages. */
typedef struct entry {
    char name[64];
    tl_schema table; /* where page is NULL */
    const page *page;
} entry;

/* All of them, n; the caller frees them.  NULL: memory is out. */
static entry *list_entries(size_t *n)
{
    size_t ntables;
    const tl_schema *const *schemas = tl_all_schemas(&ntables);
    entry *v = tl_calloc(2 * ntables + NPAGES, sizeof *v);

    *n = 0;
    for (size_t i = 0; v != NULL && i < ntables; i++) {
        entry *e = &v[(*n)++];
        e->table = *schemas[i];
        snprintf(e->name, sizeof e->name, "%s", schemas[i]->name);
        if (schemas[i]->scope != TL_SCOPE_EVENT)
            continue;
        e = &v[(*n)++];
        e->table = tl_row_index_schema;
        snprintf(e->name, sizeof e->name, "%s_index", schemas[i]->name);
    }
    for (size_t i = 0; v != NULL && i < NPAGES; i++) {
        entry *e = &v[(*n)++];
        e->page = &pages[i];
        snprintf(e->name, sizeof e->name, "%s", pages[i].name);
    }
    for (size_t i = 0; i < *n; i++)
        v[i].table.name = v[i].name;
    return v;
}

static void describe_entry(FILE *out, const entry *e)
{
    if (e == NULL)
        return;
    if (e->page != NULL)
        describe_page(out, e->page);
    else
        describe_table(out, &e->table);
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
    if (names == NULL)
        return tl_fail_memory(err, "names of tables");
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

    if (v == NULL)
        st = tl_fail_memory(&err, "the list of tables");
    for (size_t i = 0; i < cli->nwords && st == TL_OK; i++)
        if (find_entry(v, n, cli->words[i]) == NULL)
            st = fail_unknown(v, n, cli->words[i], &err);
    if (st != TL_OK) {
        free(v);
        return tl_cli_complain(cli, &err);
    }

    size_t npages = cli->nwords > 0 ? cli->nwords : n;
    for (size_t i = 0; i < npages; i++) {
        if (i > 0)
            fputc('\n', stdout);
        describe_entry(stdout, cli->nwords > 0 ? find_entry(v, n, cli->words[i]) : &v[i]);
    }
    explain_words(stdout);
    free(v);
    return 0;
}
