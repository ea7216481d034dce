/* describe.c - tlmpi describe: the manual of the tables, from the schemas that also write them. */
#include "cli.h"
#include "suggest.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/model/idle_tables.h"
#include "tlmpi/report/wrap.h"

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
    fputs("\n  rules (--idle without=NAME+NAME)\n", out);
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
        "name: number of a row of /names; tlmpi show prints the text",
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

static const tl_schema *find_table(const char *name)
{
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(schemas[i]->name, name) == 0)
            return schemas[i];
    return NULL;
}

static tl_status fail_unknown(const char *name, tl_error *err)
{
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);
    const char **names = tl_calloc(n + 1, sizeof *names);
    if (names == NULL)
        return tl_fail_memory(err, "names of tables");
    for (size_t i = 0; i < n; i++)
        names[i] = schemas[i]->name;
    tl_status st = tl_fail_unknown(err, "table", name, "a result file", names, n);
    free(names);
    return st;
}

int tl_describe(const tl_cli *cli)
{
    tl_error err;
    size_t n;
    const tl_schema *const *schemas = tl_all_schemas(&n);

    for (size_t i = 0; i < cli->nwords; i++)
        if (find_table(cli->words[i]) == NULL) {
            fail_unknown(cli->words[i], &err);
            return tl_cli_complain(cli, &err);
        }
    if (cli->nwords > 0)
        n = cli->nwords;
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            fputc('\n', stdout);
        describe_table(stdout, cli->nwords > 0 ? find_table(cli->words[i]) : schemas[i]);
    }
    explain_words(stdout);
    return 0;
}
