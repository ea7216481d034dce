/* part_file.h - a file that gets its name when all of it is on the disk.
 *
 *     NAME.part is written, synced, and renamed to NAME; a run that fails or is killed leaves no NAME,
 *     and no NAME.part either unless it was killed outright (SIGKILL), as mpirun does where the proc
 *     finds no processor for half a second after the signal.  The next run removes it.
 */
#ifndef TLMPI_BASE_PART_FILE_H
#define TLMPI_BASE_PART_FILE_H

#include "tlmpi/base/status.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Start from TL_PART_FILE_INIT; tl_part_file_drop ends it. */
typedef struct tl_part_file {
    char *path, *part; /* NAME, NAME.part; owned */
    bool force;        /* NAME may be overwritten */
    bool made;         /* NAME.part is ours to remove */
    int fd;            /* of the part, from its creation on: no write error can escape the fsync at the end */
} tl_part_file;

#define TL_PART_FILE_INIT                                                                                              \
    {                                                                                                                  \
        .fd = -1                                                                                                       \
    }

/* Sees that `path` may become a result, and clears the way for its part: what a killed run has left is removed.
 * TL_EOUTPUT: the file exists and force is not set; it is no regular file (a link is not followed, nor replaced); or
 * another run is writing its part. */
tl_status tl_part_file_begin(tl_part_file *part, const char *path, bool force, tl_error *err);

/* Creates the part, exclusively and locked; `fd` may be read and written.  It stays the part's. */
tl_status tl_part_file_create(tl_part_file *part, tl_error *err);

/* The same with a stream for reading and writing, to be closed before the part is published or dropped.  NULL: err
 * tells why. */
FILE *tl_part_file_stream(tl_part_file *part, tl_error *err);

/* Instead of tl_part_file_create: another writer (a library) has just created the part, exclusively. */
tl_status tl_part_file_created(tl_part_file *part, tl_error *err);

/* After tl_part_file_created, as soon as that writer has closed the part and so dropped its lock: keeps the part
 * locked, but readable.  TL_EOUTPUT: another run has taken its place. */
tl_status tl_part_file_hold(tl_part_file *part, tl_error *err);

/* Makes the folder and those above it that are missing.  TL_EOUTPUT. */
tl_status tl_make_folders(const char *path, tl_error *err);

/* The part, whole and closed by its writer, becomes the file. */
tl_status tl_part_file_publish(tl_part_file *part, tl_error *err);

/* Removes the part if it has not become the file. */
void tl_part_file_drop(tl_part_file *part);

/* ------------------------------------------------------------------------------------------- unfinished files, and signals
 *
 * Between tl_unfinished_add and tl_unfinished_done a file goes away when a signal ends the process; SIGKILL and a loss of
 * power leave it, and the next run of that name replaces it. */

/* Call once, when the process has started: signals that would end the process (HUP, INT, QUIT, TERM, XCPU, USR1,
 * USR2, unless ignored) first remove the unfinished files; then the process ends by the signal.  crowd: several
 * processes get the signal together.  A launcher that sees one process end kills the others outright, perhaps before
 * their files are removed: so each process waits half a second before it ends. */
void tl_unfinished_on_signal(bool crowd);

/* The path, of a file, or of a folder that is added before what lies in it, is borrowed until tl_unfinished_done: the
 * file is renamed, or removed.  Of more than 16 paths at a time the rest is not removed. */
void tl_unfinished_add(const char *path);
void tl_unfinished_done(const char *path);

/* Removes what is unfinished, for an end without return.  May be called by a signal handler. */
void tl_unfinished_remove(void);

/* ------------------------------------------------------------------------------------------------------ inputs in the way
 *
 * Outputs that would replace an input file are refused, with or without -f, and by any path that leads to the input. */

/* Whether a file written as `path` (first as PATH.part) would take the place of this inode (0: none) of the device. */
bool tl_would_replace(const char *path, uint64_t device, uint64_t inode);

/* TL_EUSAGE where a file written as `path` would take the place of the file `input`. */
tl_status tl_check_input_kept(const char *path, const char *input, tl_error *err);

#endif
