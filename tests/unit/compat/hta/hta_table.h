/* hta_table.h - one of HTA's tables, made from traces of a few lines. */
#ifndef TESTS_UNIT_HTA_TABLE_H
#define TESTS_UNIT_HTA_TABLE_H

#include "hta_trace.h"
#include <sys/stat.h>

static char table_folder[32];

/* Writes the table from one trace or two, into a folder of its own; what the notes have then, good until the next
 * call. */
static inline const char *make(tl_hta_table *table, const char *text, const char *text_1)
{
    static char notes[4096];
    static unsigned ntables;
    tl_hta_job job = load(text, text_1, false);

    settle(&job, false);
    snprintf(table_folder, sizeof table_folder, "table%u", ntables++);
    CU_ASSERT_EQUAL_FATAL(mkdir(scratch_path(table_folder), 0777), 0);
    CU_ASSERT_EQUAL_FATAL(write_table(&job, table, scratch_path(table_folder)), TL_OK);
    snprintf(notes, sizeof notes, "%.*s", (int)job.out.notes.n, job.out.notes.n > 0 ? job.out.notes.v : "");
    tl_hta_job_free(&job);
    return notes;
}

/* The last table of that name, whole; its rows, without the header. */
static inline const char *text_of_table(const char *name)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", table_folder, name);
    return content(path);
}

static inline const char *rows_of(const char *name)
{
    const char *text = text_of_table(name), *end = strchr(text, '\n');
    return end != NULL ? end + 1 : text;
}

#endif
