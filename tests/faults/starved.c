/* starved.c - tlmpi with one allocation that fails: the TLMPI_FAIL_AFTER-th of the proc TLMPI_FAIL_PROC (of all procs
 * without it).  Linked beside the program's main; faults/no_memory.py runs it. */
#include "tlmpi/base/mem.h"

#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void starve(void)
{
    const char *n = getenv("TLMPI_FAIL_AFTER"), *wanted = getenv("TLMPI_FAIL_PROC");
    const char *proc = getenv("OMPI_COMM_WORLD_RANK");
    if (n != NULL && (wanted == NULL || proc == NULL || strcmp(wanted, proc) == 0))
        tl_mem_fail_after(strtoul(n, NULL, 10));
}
