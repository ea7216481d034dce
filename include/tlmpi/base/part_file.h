/* part_file.h - a file that gets its name once all of it is on the disk.
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
    bool made;         /* NAME.part was created by this process, which removes it */
    int fd;            /* of the part, from its creation on: no write error can escape the fsync at the end */
} tl_part_file;

#define TL_PART_FILE_INIT                                                                                              \
    {                                                                                                                  \
        .fd = -1                                                                                                       \
    }

/* Checks that `path` may become a result, and removes a part left by a killed run.  TL_EOUTPUT: the file exists and
 * force is not set; it is not a regular file (a link is neither followed nor replaced); or another run is writing its
 * part. */
tl_status tl_part_file_begin(tl_part_file *part, const char *path, bool force, tl_error *err);

/* Creates the part, exclusively and locked, and opens it as `fd` for reading and writing; the part owns fd. */
tl_status tl_part_file_create(tl_part_file *part, tl_error *err);

/* As tl_part_file_create, with a stream for reading and writing, which is closed before the part is published or
 * dropped.  NULL: see err. */
FILE *tl_part_file_stream(tl_part_file *part, tl_error *err);

/* Instead of tl_part_file_create, if a library has just created the part, exclusively. */
tl_status tl_part_file_created(tl_part_file *part, tl_error *err);

/* After tl_part_file_created, as soon as the library has closed the part and so released its lock: keeps the part
 * locked, but readable.  TL_EOUTPUT: another run has replaced it. */
tl_status tl_part_file_hold(tl_part_file *part, tl_error *err);

/* Creates the folder and missing folders above it.  TL_EOUTPUT. */
tl_status tl_make_folders(const char *path, tl_error *err);

/* Renames the part, complete and closed by its writer, to its final name. */
tl_status tl_part_file_publish(tl_part_file *part, tl_error *err);

/* Removes the part unless it was published. */
void tl_part_file_drop(tl_part_file *part);

/* --------------------------------------------------------------------------------------- unfinished files, and signals
 *
 * Between tl_unfinished_add and tl_unfinished_done a file is removed if a signal ends the process; SIGKILL and a power
 * failure leave it, and the next run of that name replaces it. */

/* Call once, at the start of the process: signals that would end the process (HUP, INT, QUIT, TERM, XCPU, USR1, USR2,
 * unless ignored) first remove the unfinished files; then the process ends by the signal.  crowd: several processes get
 * the signal together.  A launcher that sees one process end kills the others outright, possibly before their files are
 * removed: so each process waits half a second before it ends. */
void tl_unfinished_on_signal(bool crowd);

/* After tl_unfinished_on_signal: the first SIGUSR1 no longer ends the process, but sets tl_stop_signal; nor does the
 * first SIGTERM or SIGINT of a process without a crowd (mpirun kills a process one second after SIGTERM). */
void tl_stop_on_signal(void);

/* Returns the signal that asks to read no more and to finish with what has been read; 0: none. */
int tl_stop_signal(void);

/* Adds a file, or a folder, which is added before its content.  The path is borrowed until tl_unfinished_done: the file
 * is renamed, or removed.  Of more than 16 paths at a time the rest is not removed. */
void tl_unfinished_add(const char *path);
void tl_unfinished_done(const char *path);

/* Removes unfinished files, before the process ends.  May be called by a signal handler. */
void tl_unfinished_remove(void);

/* --------------------------------------------------------------------------------------------------- inputs in the way
 *
 * Outputs that would replace an input file are refused, with or without -f, through any path that leads to the
 * input. */

/* Whether a file written as `path` (first as PATH.part) would take the place of this inode (0: none) of the device. */
bool tl_would_replace(const char *path, uint64_t device, uint64_t inode);

/* Returns TL_EUSAGE if a file written as `path` would replace the file `input`. */
tl_status tl_check_input_kept(const char *path, const char *input, tl_error *err);

#endif
