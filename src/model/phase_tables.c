/* phase_tables.c - the schemas of phase_tables.h. */
#include "tlmpi/model/phase_tables.h"

const char *const tl_phase_holds_labels[] = { TL_HOLDS_VALUES(TL_VALUE_LABEL) NULL };
const char *const tl_phase_file_labels[] = { TL_PHASE_FILE_VALUES(TL_VALUE_LABEL) NULL };
const char *const tl_phase_answer_labels[] = { TL_PHASE_ANSWER_VALUES(TL_VALUE_LABEL) NULL };

TL_TABLE_DEFINE_RARE(phase_file, TL_PHASE_FILE_FIELDS, TL_SCOPE_JOB, "files of phases",
                     "Which files of phases were read, and which of their lines were lost?");
TL_TABLE_DEFINE_RARE(phase_step, TL_PHASE_STEP_FIELDS, TL_SCOPE_COLLECTIVE, "phases by step and rank",
                     "How long did each phase take, and how long on the other ranks in the same step?");
TL_TABLE_DEFINE_RARE(phase, TL_PHASE_FIELDS, TL_SCOPE_JOB, "phases by rank",
                     "How long do the phases of a rank take, and by how much longer than on other ranks?");
TL_TABLE_DEFINE_RARE(
    phase_verdict, TL_PHASE_VERDICT_FIELDS, TL_SCOPE_JOB, "who holds the job up, by phases",
    "Which rank holds the job up, in which phase, do others wait for it, and always or only for a while? From "
    "durations of "
    "phases alone, or with the waits that Kineto traces of the same steps show. Where a phase holds a collective, it "
    "takes "
    "all ranks equally long, and who is slow in it is hidden: of 8 ranks of which one has more to compute, the others "
    "have "
    "as much longer all-reduces. With a phase around each, that rank is named for the first, and the others wait in "
    "the "
    "second; with one phase around both, nobody can be named, and a Kineto trace of a few of the steps tells.");
