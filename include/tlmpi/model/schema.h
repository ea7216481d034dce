/* schema.h - a table's columns, defined once.
 *
 * A field list defines the struct, the HDF5 type, the CSV header, the JSON keys, the page of `tlmpi describe`, the sort
 * order and the digest.  A new column is one line:
 *
 *     #define TL_GAP_FIELDS(F, T)                                              \
 *         F(T, I32,  rank,     KEY,     "",   "traced rank")                   \
 *         F(T, TIME, start_ns, KEY,     "ns", "when the stream ran dry")       \
 *         F(T, I64,  gap_ns,   MEASURE, "ns", "until the next kernel started")
 *     TL_TABLE(gap, TL_GAP_FIELDS);              in a header: struct tl_gap, tl_gap_schema
 *     TL_TABLE_DEFINE(gap, TL_GAP_FIELDS, TL_SCOPE_EVENT, "title", "question");      in one .c file
 */
#ifndef TLMPI_MODEL_SCHEMA_H
#define TLMPI_MODEL_SCHEMA_H

#include "tlmpi/model/names.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type of a cell, the same in memory and in the file except for TIME.  Tables of every scope may have every
 * type. */
typedef enum tl_type {
    TL_TYPE_I32,  /* int32_t */
    TL_TYPE_I64,  /* int64_t */
    TL_TYPE_F64,  /* double; NaN where there is no value */
    TL_TYPE_TIME, /* int64_t: Unix ns in memory, ns since the file's epoch_ns in the file; TL_TIME_UNKNOWN in both */
    TL_TYPE_NAME, /* uint32_t: an id of the rank's tl_names while the rank is analysed; afterwards, in memory and in the
                   * file, a row number of /names, so that equal numbers are equal texts across ranks; TL_NO_NAME in
                   * both */
    TL_TYPE_ENUM, /* uint8_t, one of the field's labels */
    TL_TYPE_TEXT  /* char[size], UTF-8, padded with 0; cut at a whole character where the text is longer */
} tl_type;

/* The purpose of a column. */
typedef enum tl_role {
    TL_ROLE_KEY,     /* rows are sorted by the keys, left to right, and two files are joined on them */
    TL_ROLE_LABEL,   /* describes the subject of the row */
    TL_ROLE_MEASURE, /* a result */
    TL_ROLE_SOURCE   /* origin of the data; excluded from the digest */
} tl_role;

/* Where a table's rows are kept. */
typedef enum tl_scope {
    TL_SCOPE_EVENT,      /* rows per kernel, gap, launch: written once the rank is analysed, then dropped */
    TL_SCOPE_RANK,       /* rows per rank, or rank and step: kept, and gathered in rank order */
    TL_SCOPE_COLLECTIVE, /* rows per collective or participant: at the proc that owns the collective */
    TL_SCOPE_JOB         /* few rows: on proc 0 */
} tl_scope;

typedef struct tl_field {
    const char *name, *unit, *doc;
    tl_role role;
    uint32_t size;   /* bytes in the row in memory */
    uint32_t offset; /* of the cell in the row in memory */
    tl_type type;
    const char *const *labels;   /* TL_TYPE_ENUM: NULL-terminated, label i is value i; else NULL */
    const char *const *meanings; /* of the labels, likewise; NULL also in a schema that was read from a file */
} tl_field;

typedef struct tl_schema {
    const char *name;     /* "breakdown": HDF5 dataset, CLI word */
    const char *title;    /* a few words */
    const char *question; /* the question that the table answers */
    tl_scope scope;
    const tl_field *fields;
    size_t nfields;
    size_t row_size; /* sizeof the struct */
    bool rare;       /* the table is left out of a file in which it has no rows */
} tl_schema;

#define TL_TIME_UNKNOWN INT64_MIN

/* A hole between two windows of a recording.  In memory the times of a job with several windows are recorded time,
 * which excludes the holes; times in the file include them: closed_ns is added to times from recorded_ns up to the next
 * hole. */
typedef struct tl_hole {
    int64_t recorded_ns, closed_ns;
} tl_hole;

/* An enumeration, its labels and their meanings, defined once: V(value, "label", "meaning").
 *
 *     #define TL_QUEUED_VALUES(V)                                                          \
 *         V(TL_QUEUED_UNKNOWN, "unknown", "the launch is not in the trace")                \
 *         V(TL_QUEUED_NO, "no", "launched during the gap")
 *     typedef enum tl_queued { TL_QUEUED_VALUES(TL_VALUE_NAME) } tl_queued;
 *     TL_LABELS(queued);                             tl_queued_labels and tl_queued_meanings, NULL-terminated
 *     TL_LABELS_DEFINE(queued, TL_QUEUED_VALUES);    in one .c file
 */
#define TL_VALUE_NAME(value, label, meaning)    value,
#define TL_VALUE_LABEL(value, label, meaning)   label,
#define TL_VALUE_MEANING(value, label, meaning) (meaning),
#define TL_LABELS(e)                            extern const char *const tl_##e##_labels[], *const tl_##e##_meanings[]
#define TL_LABELS_DEFINE(e, VALUES)                                                                                    \
    const char *const tl_##e##_labels[] = { VALUES(TL_VALUE_LABEL) NULL };                                             \
    const char *const tl_##e##_meanings[] = { VALUES(TL_VALUE_MEANING) NULL }

/* The C type of a cell.  A column of type ENUM(e) has the enumeration tl_e, with the labels tl_e_labels. */
#define TL_CELL_I32(name)      int32_t name
#define TL_CELL_I64(name)      int64_t name
#define TL_CELL_F64(name)      double name
#define TL_CELL_TIME(name)     int64_t name
#define TL_CELL_NAME(name)     uint32_t name
#define TL_CELL_TEXT16(name)   char name[16]
#define TL_CELL_TEXT32(name)   char name[32]
#define TL_CELL_TEXT64(name)   char name[64]
#define TL_CELL_TEXT128(name)  char name[128]
#define TL_CELL_TEXT256(name)  char name[256]
#define TL_CELL_TEXT1024(name) char name[1024]
#define TL_CELL_ENUM(e)        uint8_t /* and (name) */

/* The type of a field, its labels and their meanings. */
#define TL_FORM_I32       TL_TYPE_I32, NULL, NULL
#define TL_FORM_I64       TL_TYPE_I64, NULL, NULL
#define TL_FORM_F64       TL_TYPE_F64, NULL, NULL
#define TL_FORM_TIME      TL_TYPE_TIME, NULL, NULL
#define TL_FORM_NAME      TL_TYPE_NAME, NULL, NULL
#define TL_FORM_TEXT16    TL_TYPE_TEXT, NULL, NULL
#define TL_FORM_TEXT32    TL_TYPE_TEXT, NULL, NULL
#define TL_FORM_TEXT64    TL_TYPE_TEXT, NULL, NULL
#define TL_FORM_TEXT128   TL_TYPE_TEXT, NULL, NULL
#define TL_FORM_TEXT256   TL_TYPE_TEXT, NULL, NULL
#define TL_FORM_TEXT1024  TL_TYPE_TEXT, NULL, NULL
#define TL_FORM_ENUM(e)   TL_TYPE_ENUM, tl_##e##_labels, tl_##e##_meanings

#define TL_FIELD_MEMBER(T, type, name, role, unit, doc) TL_CELL_##type(name);
#define TL_FIELD_ENTRY(T, type, name, role, unit, doc)                                                                 \
    { #name,                                                                                                           \
      unit,                                                                                                            \
      doc,                                                                                                             \
      TL_ROLE_##role,                                                                                                  \
      (uint32_t)sizeof(((T *)0)->name),                                                                                \
      (uint32_t)offsetof(T, name),                                                                                     \
      TL_FORM_##type },

#define TL_TABLE(table, FIELDS)                                                                                        \
    typedef struct tl_##table {                                                                                        \
        FIELDS(TL_FIELD_MEMBER, tl_##table)                                                                            \
    } tl_##table;                                                                                                      \
    extern const tl_schema tl_##table##_schema

#define TL_TABLE_DEFINE(table, FIELDS, scope, title, question)                                                         \
    TL_TABLE_DEFINE_AS(table, #table, FIELDS, scope, title, question)

/* For a table whose name differs from its struct's. */
#define TL_TABLE_DEFINE_AS(table, word, FIELDS, scope, title, question)                                                \
    TL_TABLE_DEFINE_AS_IS(table, word, FIELDS, scope, title, question, false)

/* A table that is left out of files in which it has no rows. */
#define TL_TABLE_DEFINE_RARE(table, FIELDS, scope, title, question)                                                    \
    TL_TABLE_DEFINE_RARE_AS(table, #table, FIELDS, scope, title, question)

#define TL_TABLE_DEFINE_RARE_AS(table, word, FIELDS, scope, title, question)                                           \
    TL_TABLE_DEFINE_AS_IS(table, word, FIELDS, scope, title, question, true)

#define TL_TABLE_DEFINE_AS_IS(table, word, FIELDS, scope, title, question, rare)                                       \
    static const tl_field tl_##table##_fields[] = { FIELDS(TL_FIELD_ENTRY, tl_##table) };                              \
    const tl_schema tl_##table##_schema = { word,                                                                      \
                                            title,                                                                     \
                                            question,                                                                  \
                                            scope,                                                                     \
                                            tl_##table##_fields,                                                       \
                                            sizeof tl_##table##_fields / sizeof tl_##table##_fields[0],                \
                                            sizeof(tl_##table),                                                        \
                                            rare }

#endif
