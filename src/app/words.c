/* words.c - tlmpi describe WORD: what a word of a summary, of an answer or of a table means. */
#include "describe.h"

#include "tlmpi/analysis/idle.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/report/format/wrap.h"
#include <string.h>

/* Words of sentences that are no word of a table. */
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
    { "trust", "how far an answer can be relied on: high where nothing speaks against it, medium with one or two "
               "doubts, low with "
               "three, or one that is grave; the doubts are told beside it" },
    { "unknown",
      "communication of which the traces do not tell whether ranks waited or data moved: a rank has no trace, or what "
      "was recorded does not match" },
    { "waiting",
      "the part of a collective before the last of its ranks has begun; of a receive, before its sender has" },
};

typedef struct answer {
    FILE *out; /* NULL: meanings are counted, not printed */
    const char *word;
    size_t n; /* meanings found */
} answer;

/* Tells a meaning, after the place where the word has it. */
static void say_meaning(answer *a, const char *place, const char *meaning)
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

/* Whether one of the first n columns of a table has these labels. */
static bool has_labels(const tl_schema *table, size_t n, const char *const *labels)
{
    bool has = false;
    for (size_t f = 0; f < n; f++)
        has |= table->fields[f].labels == labels;
    return has;
}

/* A label of an enumeration, once for all columns that have it: tables[at] is the first table with such a column. */
static void say_label(answer *a, const tl_schema *const *tables, size_t ntables, size_t at, const tl_field *field)
{
    const char *const *docs = tl_values_of(field->labels);
    for (size_t i = 0; field->labels[i] != NULL; i++) {
        char place[160];
        if (strcmp(field->labels[i], a->word) != 0)
            continue;
        size_t used = (size_t)snprintf(place, sizeof place, "as %s in", field->name), tail = used;
        for (size_t t = at; t < ntables; t++) {
            const char *comma = used > tail ? "," : "";
            if (has_labels(tables[t], tables[t]->nfields, field->labels) &&
                used + strlen(comma) + strlen(tables[t]->name) + 3 < sizeof place)
                used += (size_t)snprintf(place + used, sizeof place - used, "%s %s", comma, tables[t]->name);
        }
        snprintf(place + used, sizeof place - used, ":");
        say_meaning(a, place, docs != NULL && docs[i] != NULL ? docs[i] : field->doc);
    }
}

static void say_labels(answer *a)
{
    size_t n;
    const tl_schema *const *tables = tl_all_schemas(&n);
    for (size_t t = 0; t < n; t++)
        for (size_t f = 0; f < tables[t]->nfields; f++) {
            const tl_field *field = &tables[t]->fields[f];
            bool told = field->labels == NULL || has_labels(tables[t], f, field->labels);
            for (size_t k = 0; k < t && !told; k++)
                told = has_labels(tables[k], tables[k]->nfields, field->labels);
            if (!told)
                say_label(a, tables, n, t, field);
        }
}

/* "gain" is the column gain_ns, too. */
static void say_columns(answer *a)
{
    size_t ntables, n = strlen(a->word);
    const tl_schema *const *tables = tl_all_schemas(&ntables);
    for (size_t t = 0; t < ntables; t++)
        for (size_t f = 0; f < tables[t]->nfields; f++) {
            const tl_field *field = &tables[t]->fields[f];
            char place[160];
            if (strncmp(field->name, a->word, n) != 0 ||
                (field->name[n] != '\0' && strcmp(field->name + n, "_ns") != 0))
                continue;
            snprintf(place, sizeof place, "column %s of %s%s%s:", field->name, tables[t]->name,
                     field->unit[0] != '\0' ? ", " : "", field->unit);
            say_meaning(a, place, field->doc);
        }
}

bool tl_describe_word(FILE *out, const char *word)
{
    answer a = { .out = out, .word = word };
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
        if (strcmp(terms[i].word, word) == 0)
            say_meaning(&a, "", terms[i].meaning);
    say_labels(&a);
    say_columns(&a);
    for (const tl_threshold *t = tl_idle_thresholds; t->name != NULL; t++)
        if (strcmp(t->name, word) == 0)
            say_meaning(&a, "a threshold of --idle:", t->doc);
    return a.n > 0;
}
