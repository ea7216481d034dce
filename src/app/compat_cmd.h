/* compat_cmd.h - what the faces of other tools share on the command line. */
#ifndef TLMPI_APP_COMPAT_CMD_H
#define TLMPI_APP_COMPAT_CMD_H

#include "cli.h"
#include "tlmpi/trace/find.h"

/* Local.  A folder that holds tables is another job's, or an older result: TL_EOUTPUT, unless force says so. */
tl_status tl_compat_check_folder(const char *path, bool force, tl_error *err);

/* Local.  The traces that the words after the tool's name hold, in path order; *left_out counts what should be one and
 * is none.  Inputs of other kinds stay in the inventory. */
tl_status tl_compat_find_files(const tl_cli *cli, tl_inventory *inventory, size_t *left_out, tl_error *err);

/* Local.  Says where the reasons stand. */
void tl_compat_point_to_notes(const tl_cli *cli, bool incomplete);

/* Collective: tlmpi compat tracelens.  The exit status. */
int tl_compat_tracelens(const tl_cli *cli);

#endif
