/* h5_ranks.c - which rows of a table are a rank's: as a table, and as a dataset that shows only them.
 *
 *     /tables/interval          [ rank 0 | rank 1          | rank 2 ]
 *     /tables/interval_index    { 0, 0, 8 }, { 1, 8, 17 }, ...
 *     /ranks/00001/interval              [ rows of rank 1  ]
 *
 * A view is a virtual dataset; its source is /tables/interval of the file ".", which is the file itself, however it is
 * called.  h5py, PyTables and HDFView read it like any other; a reader of HDF5 1.8 knows no virtual datasets and sees
 * the rest of the file.  A view is marked as a table but neither described nor are its columns named outside its type:
 * the same words a thousand times would be some megabytes, and most of the time that writing them takes.  The views of
 * a table share one type in the file.
 */
#include "h5_ranks.h"
#include "h5_schema.h"
#include "tlmpi/model/tables.h"
#include "tlmpi/store/pack.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *index_name(const char *table)
{
    size_t n = strlen(table);
    char *name = tl_malloc(n + sizeof "_index");
    memcpy(name, table, n);
    memcpy(name + n, "_index", sizeof "_index");
    return name;
}

tl_status tl_h5_write_index(const tl_h5_rows *table, tl_h5_ranks *ranks, tl_error *err)
{
    tl_status st;
    tl_h5_rows out = TL_H5_ROWS_INIT;
    tl_schema schema = tl_row_index_schema;
    size_t n = ranks->ranges.n;
    tl_row_index *rows = tl_calloc(n, sizeof *rows);
    void *packed = tl_calloc(n, tl_packed_size(&schema));

    ranks->index_name = index_name(table->schema->name);
    schema.name = ranks->index_name;
    for (size_t i = 0; i < n; i++) {
        const tl_h5_range *p = &ranks->ranges.v[i];
        if (p->first > table->end || p->n > table->end - p->first) {
            st = tl_fail(err, TL_EINTERNAL, "table %s: rank %d has rows that never came", table->schema->name,
                         (int)p->rank);
            goto done;
        }
        rows[i] = (tl_row_index){ .rank = p->rank, .first_row = (int64_t)p->first, .nrows = (int64_t)p->n };
    }
    tl_pack(&schema, rows, n, 0, packed);
    tl_h5_rows_begin(&out, table->group, &schema, table->room);
    if ((st = tl_h5_rows_add(&out, 0, packed, n, err)) == TL_OK)
        st = tl_h5_rows_flush(&out, err);

done:
    if (tl_h5_rows_free(&out) < 0 && st == TL_OK)
        st = tl_h5_fail(err, TL_EOUTPUT, table->group, "index of table %s", table->schema->name);
    free(packed);
    free(rows);
    return st;
}

/* How the view lies in the file: as rows [range->first, ...) of the table, whose space is `source`. */
static hid_t view_plist(const char *table, hid_t source, hid_t space, const tl_h5_range *range)
{
    hsize_t start = range->first, count = range->n;
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    if (plist < 0 || H5Pset_obj_track_times(plist, false) < 0)
        goto fail;
    /* Without rows there is nothing to map: the view is an ordinary empty dataset then. */
    if (range->n > 0 && (H5Sselect_hyperslab(source, H5S_SELECT_SET, &start, NULL, &count, NULL) < 0 ||
                         H5Pset_virtual(plist, space, ".", table, source) < 0))
        goto fail;
    return plist;

fail:
    tl_h5_close(plist);
    return -1;
}

static tl_status write_view(hid_t file, const tl_h5_rows *table, hid_t type, hid_t source, const tl_h5_range *range,
                            hid_t links, tl_error *err)
{
    char path[300], view[320];
    tl_status st = TL_OK;
    hsize_t count = range->n;
    hid_t plist = -1, dataset = -1, space = H5Screate_simple(1, &count, NULL);

    snprintf(path, sizeof path, "/tables/%s", table->schema->name);
    snprintf(view, sizeof view, "/ranks/%05d/%s", (int)range->rank, table->schema->name);
    if (space < 0 || (plist = view_plist(path, source, space, range)) < 0 ||
        (dataset = H5Dcreate2(file, view, type, space, links, plist, H5P_DEFAULT)) < 0 ||
        tl_h5_mark_table(dataset, table->schema) < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, file, "%s", view);
    if (tl_h5_close(dataset) < 0 && st == TL_OK)
        st = tl_h5_fail(err, TL_EOUTPUT, file, "%s", view);
    tl_h5_close(plist);
    tl_h5_close(space);
    return st;
}

tl_status tl_h5_write_views(hid_t file, const tl_h5_rows *table, const tl_h5_ranks *ranks, tl_error *err)
{
    tl_status st = TL_OK;
    hsize_t extent = table->end;
    if (ranks->ranges.n > TL_H5_MAX_VIEWS)
        return TL_OK;

    /* One type in the file for all views, which has no name there. */
    hid_t source = H5Screate_simple(1, &extent, NULL), links = H5Pcreate(H5P_LINK_CREATE),
          type = H5Tcopy(table->row_type);
    if (source < 0 || links < 0 || H5Pset_create_intermediate_group(links, 1) < 0 || type < 0 ||
        H5Tcommit_anon(file, type, H5P_DEFAULT, H5P_DEFAULT) < 0)
        st = tl_h5_fail(err, TL_EOUTPUT, file, "views of table %s", table->schema->name);
    for (size_t i = 0; st == TL_OK && i < ranks->ranges.n; i++)
        st = write_view(file, table, type, source, &ranks->ranges.v[i], links, err);
    tl_h5_close(type);
    tl_h5_close(links);
    tl_h5_close(source);
    return st;
}

void tl_h5_ranks_free(tl_h5_ranks *ranks)
{
    free(ranks->ranges.v);
    free(ranks->index_name);
    *ranks = (tl_h5_ranks){ 0 };
}
