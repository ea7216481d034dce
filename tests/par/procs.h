/* procs.h - what every test program on several procs shares: which proc this is, and a main by which proc 0 speaks for
 * all. */
#ifndef TLMPI_TESTS_PROCS_H
#define TLMPI_TESTS_PROCS_H

#include "../unit/unit.h"
#include "tlmpi/par/par.h"
#include <stdlib.h>

static int me, all;

/* What failed here, on a proc whose tests run in silence. */
static inline void print_failures(void)
{
    for (CU_pFailureRecord f = CU_get_failure_list(); f != NULL; f = f->pNext)
        fprintf(stderr, "proc %d of %d: %s:%u: %s\n", me, all, f->strFileName, f->uiLineNumber, f->strCondition);
}

/* Runs the tests in their order on all procs; 0 when all assertions of all hold.  The one argument is the number of
 * procs that there must be. */
static inline int procs_main(int argc, char **argv, const char *name, const unit_test *tests, size_t n)
{
    bool started = argc == 2 && CU_initialize_registry() == CUE_SUCCESS;
    CU_pSuite suite = started ? CU_add_suite(name, NULL, NULL) : NULL;
    for (size_t i = 0; i < n && suite != NULL; i++)
        if (CU_add_test(suite, tests[i].claim, tests[i].check) == NULL)
            suite = NULL;
    tl_par_start(&argc, &argv);
    me = tl_par_proc();
    all = tl_par_nprocs();
    if (suite == NULL || strtol(argv[1], NULL, 10) != all) {
        fprintf(stderr, "proc %d: %d procs, or no test could be added\n", me, all);
        tl_par_abort(1);
    }

    if (me == 0) {
        CU_basic_set_mode(CU_BRM_VERBOSE);
        CU_basic_run_tests();
    } else {
        CU_run_all_tests();
        print_failures();
    }
    bool failed = CU_get_number_of_failures() != 0 || CU_get_number_of_tests_run() != n;
    failed = tl_par_agree(failed ? TL_EINTERNAL : TL_OK, NULL) != TL_OK;
    CU_cleanup_registry();
    tl_par_end();
    return failed;
}

#endif
