/* input.h - what the parts of discovery share about one file. */
#ifndef TLMPI_TRACE_FIND_INPUT_H
#define TLMPI_TRACE_FIND_INPUT_H

#include "tlmpi/base/text.h"
#include "tlmpi/trace/find.h"
#include <sys/stat.h>

/* The digits of the rank in the path that tl_rank_of_name finds; empty where it finds none. */
tl_text tl_rank_digits(const char *path);

/* The Unix time in ns that the file's name holds ("host_21147.1698955063520869240.pt.trace.json"), or -1. */
int64_t tl_time_of_name(const char *path);

/* Whether a file of that name should be a trace: "trace", "kineto" or a rank stands in it. */
bool tl_name_says_trace(const char *path);

/* Sets kind and why. */
void tl_input_say_why(tl_input *input, tl_input_kind kind, const char *reason);

/* Takes size and time of the file. */
void tl_input_set_stat(tl_input *input, const struct stat *st);

#endif
