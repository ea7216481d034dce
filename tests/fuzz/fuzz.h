/* fuzz.h - what the targets share: an input as a file, plain and packed, and the end of a target that finds a difference.
 *
 * A difference is told and the target aborts, which libFuzzer keeps as a crash.
 */
#ifndef TLMPI_FUZZ_H
#define TLMPI_FUZZ_H

#include "tlmpi/trace/read/reader.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

_Noreturn void fuzz_differ(const char *what, int64_t a, int64_t b);

/* Ends the target with the system's error. */
_Noreturn void fuzz_broken(const char *what);

/* Writes the bytes to a file; returns its path, which is the same at each call. */
const char *fuzz_file(const void *data, size_t n);

/* The same, packed with gzip. */
const char *fuzz_file_packed(const void *data, size_t n);

/* Whether a text may be packed, by its first bytes; or in another encoding. */
bool fuzz_is_packed(const uint8_t *data, size_t n);
bool fuzz_is_encoded(const uint8_t *data, size_t n);

/* Links the trace, and analyses it as a run does. */
void fuzz_analyse(tl_trace *trace);

#endif
