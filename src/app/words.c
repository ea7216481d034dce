/* words.c - tlmpi describe WORD: what a word of a summary, of an answer or of a table means. */
#include "words.h"

#include "tlmpi/analysis/idle.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/report/format/wrap.h"
#include <string.h>

/* Words of sentences that are no word of a table. */
static const struct {
    const char *word, *meaning;
} terms[] = {
    { "balance", "what the job would gain if work were spread evenly, or hosts took no time: no rank is at fault for it" },
    { "blame", "the time that other ranks wait in collectives because a rank came later than they; it includes what that rank "
               "had waited itself and passes on" },
    { "bubble", "the time in which a pipeline stage has neither work nor a copy" },
    { "cost", "how much shorter the steps would be on average without the delay of what is named, simulated" },
    { "critical path", "the chain of work, launches and transfers across ranks that decides when the job ends" },
    { "excess", "the time that a rank works longer than its peers do for the same work; waiting does not count" },
    { "exposed", "while nothing computes on the same device; what is not exposed is hidden behind computation" },
    { "gain", "how much shorter the recorded steps would be if what is named took as long as its peers: the job is simulated "
              "with and without its delay; table whatif" },
    { "GPU time", "the wall time of all ranks, added up" },
    { "idle", "the time in which a device runs nothing; tables idle and gap have the reasons" },
    { "late", "in how many of the collectives that are matched with all their ranks the rank came last" },
    { "lateness", "how much later a rank comes to a collective than its peers because of its own work since the last one" },
    { "lost", "the largest parts of all GPU time in which nothing computes: idle, exposed communication and copies, and why" },
    { "peers", "ranks that do the same work: the same kernels in the same order and size" },
    { "straggler", "a rank whose own delays make others wait and the job longer" },
    { "transfer", "the part of a collective after the last of its ranks has begun: data move" },
    { "trust", "how far an answer can be relied on: high where nothing speaks against it, medium with one or two doubts, low with "
               "three, or one that is grave; the doubts are told beside it" },
    { "unknown", "communication of which the traces do not tell whether ranks waited or data moved: a rank has no trace, or what "
                 "was recorded does not match" },
    { "waiting", "the part of a collective before the last of its ranks has begun; of a receive, before its sender has" },
};

typedef struct answer {
    FILE *out; /* NULL: meanings are counted, not printed */
    const char *word;
    size_t n; /* meanings found */
} answer;

static void say_meaning(answer *a, const char *where, const char *meaning)
{
    a->n++;
    if (a->out == NULL)
        return;
    if (a->n == 1)
        fprintf(a->out, "%s\n", a->word);
    tl_wrap w = { .out = a->out, .indent = 4, .column = 2 };
    fputs("  ", a->out);
    if (where[0] != '\0')
        tl_wrap_words(&w, where);
    tl_wrap_words(&w, meaning);
    tl_wrap_end(&w);
}

/* "TABLE" after a space, else ", TABLE"; nothing where it does not fit. */
static void add_table(char *where, size_t size, const char *table)
{
    size_t used = strlen(where);
    const char *before = used > 0 && where[used - 1] == ' ' ? "" : ", ";
    if (used + strlen(before) + strlen(table) + 2 < size)
        snprintf(where + used, size - used, "%s%s", before, table);
}

static void end_where(char *where, size_t size)
{
    size_t used = strlen(where);
    snprintf(where + used, size - used, ":");
}

/* A label of an enumeration, once for all columns that have it. */
static void say_label(answer *a, const tl_schema *const *tables, size_t ntables, size_t first, const tl_field *field)
{
    const char *const *docs = tl_values_of(field->labels);
    for (size_t i = 0; field->labels[i] != NULL; i++) {
        char where[160];
        if (strcmp(field->labels[i], a->word) != 0)
            continue;
        snprintf(where, sizeof where, "as %s in ", field->name);
        for (size_t t = first; t < ntables; t++)
            for (size_t f = 0; f < tables[t]->nfields; f++)
                if (tables[t]->fields[f].labels == field->labels) {
                    add_table(where, sizeof where, tables[t]->name);
                    break;
                }
        end_where(where, sizeof where);
        say_meaning(a, where, docs != NULL && docs[i] != NULL ? docs[i] : field->doc);
    }
}

/* Whether an earlier column has the same labels, and was told with them. */
static bool was_told(const tl_schema *const *tables, size_t table, size_t field)
{
    for (size_t t = 0; t <= table; t++)
        for (size_t f = 0; f < (t < table ? tables[t]->nfields : field); f++)
            if (tables[t]->fields[f].labels == tables[table]->fields[field].labels)
                return true;
    return false;
}

static void say_labels(answer *a)
{
    size_t n;
    const tl_schema *const *tables = tl_all_schemas(&n);
    for (size_t t = 0; t < n; t++)
        for (size_t f = 0; f < tables[t]->nfields; f++)
            if (tables[t]->fields[f].labels != NULL && !was_told(tables, t, f))
                say_label(a, tables, n, t, &tables[t]->fields[f]);
}

/* "gain" is the column gain_ns, too. */
static bool is_column(const char *name, const char *word)
{
    size_t n = strlen(word);
    return strncmp(name, word, n) == 0 && (name[n] == '\0' || strcmp(name + n, "_ns") == 0);
}

static void say_columns(answer *a)
{
    size_t n;
    const tl_schema *const *tables = tl_all_schemas(&n);
    for (size_t t = 0; t < n; t++)
        for (size_t f = 0; f < tables[t]->nfields; f++) {
            const tl_field *field = &tables[t]->fields[f];
            char where[160];
            if (!is_column(field->name, a->word))
                continue;
            snprintf(where, sizeof where, "column %s of %s%s%s:", field->name, tables[t]->name,
                     field->unit[0] != '\0' ? ", " : "", field->unit);
            say_meaning(a, where, field->doc);
        }
}

static void say_thresholds(answer *a, const char *option, const tl_threshold *list)
{
    for (; list->name != NULL; list++)
        if (strcmp(list->name, a->word) == 0)
            say_meaning(a, option, list->doc);
}

bool tl_describe_word(FILE *out, const char *word)
{
    answer a = { .out = out, .word = word };
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
        if (strcmp(terms[i].word, word) == 0)
            say_meaning(&a, "", terms[i].meaning);
    say_labels(&a);
    say_columns(&a);
    say_thresholds(&a, "a threshold of --idle:", tl_idle_thresholds);
    return a.n > 0;
}
