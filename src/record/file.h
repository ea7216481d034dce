/* file.h - a file that lines are put behind. */
#ifndef TLMPI_RECORD_FILE_H
#define TLMPI_RECORD_FILE_H

#include "text.h"

/* All zero but fd, which is -1, before it is opened and after it is closed. */
typedef struct tl_record_file {
    int fd;
    tl_record_text
        out;      /* what is still to be written: the rest of a line that is there in part, and what the owner adds */
    size_t rest;  /* how long that rest is */
    bool foreign; /* it is the end of a line that was there before us */
} tl_record_file;

/* Opens DIRECTORY/cuda_events_rank_RANK.jsonl to append to; makes it, and the folders above it.  What is in the file
 * stays, and where that ends in the middle of a line, our first begins a new one.  0, or the system's error, with
 * the path. */
int tl_record_file_open(tl_record_file *file, const char *directory, int rank, tl_record_text *path);

/* Writes what is to be written, in one call to the system unless it takes a part.  0, or the system's error;
 * *nwritten is how many lines are in the file whole that were not before.  Of what the file did not take nothing is
 * kept but the rest of a line whose beginning it took: that comes first in the next write. */
int tl_record_file_write(tl_record_file *file, int64_t *nwritten);

/* 0, or the system's error, which some systems only have now. */
int tl_record_file_close(tl_record_file *file);

#endif
