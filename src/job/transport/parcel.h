/* parcel.h - rows of a table as letters: packed, and whole chunks of the file compressed, by whoever has the rows. */
#ifndef JOB_TRANSPORT_PARCEL_H
#define JOB_TRANSPORT_PARCEL_H

#include "tlmpi/job/transport/post.h"
#include "tlmpi/store/pack.h"

/* Room for one letter of rows or one chunk, for packed rows, and for compressing them. */
typedef struct tl_parcel {
    char *letter, *packed;
    tl_chunk_room work;
} tl_parcel;

/* How rows become those of the file. */
typedef struct tl_parcel_terms {
    uint32_t number; /* of the table, as the letters have it */
    uint64_t first;  /* the file's row of the table's row 0 */
    int64_t epoch_ns;
    const uint32_t *file_id; /* of each name; may be NULL where the table has none */
} tl_parcel_terms;

/* Makes room for a chunk of any of the tables.  False when memory is out; tl_parcel_free ends it in any case. */
bool tl_parcel_make(tl_parcel *room, const tl_schema *const *schemas, size_t n);
void tl_parcel_free(tl_parcel *room);

/* Sends all rows of the table to proc 0, a chunk or a piece of one a letter. */
void tl_parcel_send(tl_post *post, const tl_table *table, const tl_parcel_terms *terms, tl_parcel *room);

#endif
