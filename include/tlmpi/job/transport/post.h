/* post.h - how the rows of every proc come to the one that writes.
 *
 * Proc 0 keeps the desk: it hands out ranks in rank order, learns how many rows each has, tells where they go, and takes
 * them in.  It reads ranks like the others, so it serves the desk between blocks of its own work.
 *
 *     proc p                              desk (proc 0)
 *     NEXT                     ->
 *                              <-         ITEM   the next trace, or the next piece of one; none when there is no more
 *     COUNTS item, rows, names ->                waits until all earlier traces have told theirs
 *                              <-         PLACE  epoch, first row in each table, row of each name in /names
 *     CHUNK, ROWS ...          ->                written at once, in whatever order they come; with --reproducible a trace
 *                                                has its place only when the rows of the one before are in
 *
 * A name's row number is the order of its first use, by rank and within the rank: a function of the traces alone.
 */
#ifndef TLMPI_JOB_TRANSPORT_POST_H
#define TLMPI_JOB_TRANSPORT_POST_H

#include "tlmpi/job/transport/letters.h"
#include "tlmpi/job/read/plan.h"
#include "tlmpi/job/read/rank_result.h"
#include "tlmpi/store/store.h"

/* What proc 0 alone has. */
typedef struct tl_desk tl_desk;

/* A desk for the traces of the plan.  store may be NULL: rows are then counted and dropped.  in_order: rows are written in rank
 * order, so that the file's bytes, too, are the same for any number of procs.  progress: show it on stderr.  NULL when memory
 * is out. */
tl_desk *tl_desk_open(const tl_plan *plan, tl_store *store, bool in_order, bool progress);

/* When every proc has been told that there is no more: what went wrong meanwhile, the epoch, and the names. */
tl_status tl_desk_status(const tl_desk *desk, tl_error *err);
int64_t tl_desk_epoch(const tl_desk *desk);
const tl_names *tl_desk_names(const tl_desk *desk);

/* Local, on proc 0: serves until every other proc has been told that there is no more. */
void tl_desk_serve_out(tl_desk *desk);

/* NULL is fine. */
void tl_desk_close(tl_desk *desk);

/* A proc's way to the desk and to other procs.  tl_post_open starts it, tl_mail_free(&post->mail) ends it. */
typedef struct tl_post {
    tl_desk *desk;              /* on proc 0, else NULL */
    tl_mail mail;               /* what has come */
} tl_post;

void tl_post_open(tl_post *post, tl_desk *desk);

/* Ends all procs, with a word: where a letter cannot be kept or understood nobody can go on. */
_Noreturn void tl_post_give_up(void);

/* The next thing to read. */
tl_task tl_post_next(tl_post *post);

/* To any proc: sends, serving the desk where it is meanwhile.  Waits, asleep, for a letter with that tag from that proc (-1:
 * from any); the caller frees letter.v. */
void tl_post_send(tl_post *post, int to, int tag, const void *bytes, size_t n);
tl_mail_letter tl_post_await(tl_post *post, int from, int tag);

/* Brings the rows of a rank's event tables to the desk, and empties those tables.  TL_ENOMEM: the rows are lost. */
tl_status tl_post_deliver(tl_post *post, int64_t item, tl_rank_result *result, tl_error *err);

/* For whoever works long: serves the desk where it is.  post is a tl_post. */
void tl_post_tick(void *post);

#endif
