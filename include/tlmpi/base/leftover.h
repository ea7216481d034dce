/* leftover.h - unfinished files, and the signals that would leave them on the disk.
 *
 * A file is written as NAME.part and renamed when it is complete.  Between tl_leftover_add and tl_leftover_done it goes
 * away when a signal ends the process; SIGKILL and a loss of power leave it, and the next run of that name replaces it.
 */
#ifndef TLMPI_BASE_LEFTOVER_H
#define TLMPI_BASE_LEFTOVER_H

#include <stdbool.h>

/* Call once, when the process has started: signals that would end the process (HUP, INT, QUIT, TERM, XCPU, USR1,
 * USR2, unless ignored) first remove the unfinished files; then the process ends by the signal.  crowd: several
 * processes get the signal together.  A launcher that sees one process end kills the others outright, perhaps before
 * their files are removed: so each process waits half a second before it ends. */
void tl_leftover_catch(bool crowd);

/* The path is borrowed until tl_leftover_done: the file is renamed, or removed.  Of more than 16 paths at a time the
 * rest is not removed. */
void tl_leftover_add(const char *path);
void tl_leftover_done(const char *path);

/* Removes what is unfinished, for an end without return.  May be called by a signal handler. */
void tl_leftover_remove(void);

#endif
