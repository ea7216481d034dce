/* file.h - a file to which lines are appended. */
#ifndef TLMPI_RECORD_FILE_H
#define TLMPI_RECORD_FILE_H

#include "text.h"

/* Before it is opened and after it is closed: all zero, but fd -1. */
typedef struct tl_record_file {
    int fd;
    tl_record_text out; /* bytes to be written: the rest of a line that is partly in the file, then lines that the owner
                   * adds */
    size_t rest;        /* length of that rest, bytes */
    bool foreign;       /* that rest ends a partial line that was in the file before */
} tl_record_file;

/* Opens DIRECTORY/cuda_events_rank_RANK.jsonl for appending; creates the file and missing folders.  The content of the
 * file is kept; if it ends within a line, the first line written begins a new line.  Returns 0, or the system's error;
 * sets path. */
int tl_record_file_open(tl_record_file *file, const char *directory, int rank, tl_record_text *path);

/* Writes the bytes to be written, in one system call unless it takes only a part.  Returns 0, or the system's error;
 * *nwritten: number of lines that are now completely in the file.  Bytes that the file did not take are dropped, except
 * the rest of a line that is partly in the file, which comes first in the next write. */
int tl_record_file_write(tl_record_file *file, int64_t *nwritten);

/* Returns 0, or the system's error, which some systems report only on close. */
int tl_record_file_close(tl_record_file *file);

#endif
