/* leftover.c - removes unfinished files when a signal ends the process. */
#include "tlmpi/base/leftover.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 16 };

/* Read by a signal handler at any moment: each place is a whole pointer, or NULL. */
static _Atomic(const char *) places[PLACES];
_Static_assert(ATOMIC_POINTER_LOCK_FREE == 2, "a signal handler must not wait for a lock");

void tl_leftover_add(const char *path)
{
    for (size_t i = 0; i < PLACES; i++)
        if (atomic_load(&places[i]) == NULL) {
            atomic_store(&places[i], path);
            return;
        }
}

void tl_leftover_done(const char *path)
{
    for (size_t i = 0; i < PLACES; i++)
        if (atomic_load(&places[i]) == path)
            atomic_store(&places[i], NULL);
}

void tl_leftover_remove(void)
{
    for (size_t i = 0; i < PLACES; i++) {
        const char *path = atomic_load(&places[i]);
        if (path != NULL)
            (void)unlink(path);
    }
}

/* How long a process of a crowd goes on living: one that has a processor may be half a dozen time slices late. */
static const struct timespec grace = { .tv_nsec = 500000000 };
static volatile sig_atomic_t in_crowd;

/* The signal does what it does by default from here on (SA_RESETHAND), at once (SA_NODEFER). */
static void on_signal(int number)
{
    tl_leftover_remove();
    if (in_crowd) {
        (void)nanosleep(&grace, NULL);
        tl_leftover_remove(); /* another thread may have begun the next file */
    }
    (void)raise(number);
}

void tl_leftover_catch(bool crowd)
{
    in_crowd = crowd;

    static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGUSR1, SIGUSR2 };
    struct sigaction act = { .sa_handler = on_signal, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) }, now;

    (void)sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            (void)sigaction(signals[i], &act, NULL);
}
