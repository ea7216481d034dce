/* participants.h - the collectives that one rank takes part in. */
#ifndef TLMPI_ANALYSIS_PARTICIPANTS_H
#define TLMPI_ANALYSIS_PARTICIPANTS_H

#include "tlmpi/base/status.h"
#include "tlmpi/model/participant.h"
#include "tlmpi/model/view.h"

/* Appends the rank's participants and memberships.  TL_ENOMEM; the set then holds part of them. */
tl_status tl_participants_collect(const tl_rank_view *view, tl_participants *set, tl_error *err);

#endif
