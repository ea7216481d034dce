/* files.c - the rows of phase_file: what each proc has read, and what was counted when the files met. */
#include "internal.h"
#include "tlmpi/job/transport/rows.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

/* Sums of a file; then the least number of a file that replaces it. */
enum { REPEATED, REPLACED, LEFT_OUT, NSUMS, NCOUNTS };

bool tl_phase_files_begin(tl_phasing *p, size_t nfiles)
{
    p->nfiles = nfiles;
    p->file_counts = tl_calloc(nfiles * NCOUNTS + 1, sizeof *p->file_counts);
    if (p->file_counts == NULL)
        return false;
    p->again = (tl_phase_again){ .repeated = p->file_counts + REPEATED * nfiles,
                                 .replaced = p->file_counts + REPLACED * nfiles,
                                 .replaced_by = p->file_counts + NSUMS * nfiles };
    p->left_out_of = p->file_counts + LEFT_OUT * nfiles;
    for (size_t i = 0; i < nfiles; i++)
        p->again.replaced_by[i] = INT64_MAX;
    return true;
}

/* Proc 0. */
static void add_counts(const tl_phasing *p, tl_table *files)
{
    for (size_t i = 0; i < files->n; i++) {
        tl_phase_file *row = tl_table_row(files, i);
        size_t file = (size_t)row->file;
        row->repeated += p->again.repeated[file];
        row->superseded += p->again.replaced[file];
        row->replaced = p->again.replaced[file];
        row->replaced_by = row->replaced > 0 ? (int32_t)p->again.replaced_by[file] : -1;
        row->left_out = p->left_out_of[file];
    }
}

tl_status tl_phase_files_gather(tl_phasing *p, tl_error *err)
{
    tl_table *files = tl_tables_get(p->tables, &tl_phase_file_schema);
    void *all = NULL;
    size_t n = 0;

    tl_status st = tl_reduce_sum(p->file_counts, NSUMS * p->nfiles, err);
    if (st == TL_OK)
        st = tl_reduce_least(p->again.replaced_by, p->nfiles, err);
    if (st == TL_OK)
        st = tl_collect_rows(files->rows, files->n, sizeof(tl_phase_file), &all, &n, NULL, err);
    files->n = 0;
    if (st == TL_OK && tl_par_proc() == 0 && !(tl_table_append(files, all, n) && tl_table_sort(files)))
        st = tl_fail_memory(err, "the files of phases");
    if (st == TL_OK && tl_par_proc() == 0)
        add_counts(p, files);
    free(all);
    return tl_par_agree(st, err);
}
