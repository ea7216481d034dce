/* par_mpi_gather.h - the room that tl_par_gather needs on proc 0. */
#ifndef TLMPI_PAR_PAR_MPI_GATHER_H
#define TLMPI_PAR_PAR_MPI_GATHER_H

#include <stdbool.h>

/* After tl_tree_start. */
void tl_gather_start(void);
void tl_gather_end(void);

#endif
