/* place.h - in which operator and annotation each launch was made. */
#ifndef TLMPI_TRACE_VIEW_PLACE_H
#define TLMPI_TRACE_VIEW_PLACE_H

#include "tlmpi/trace/view.h"

/* Fills op, annotation and their names of out->launches, from the ops of the view.  False when memory is out. */
bool tl_launches_place(tl_linked *out);

#endif
