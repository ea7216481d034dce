#include "database.h"
#if TLMPI_HAVE_SQLITE
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/hash.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/model/view.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The values of a payload. */
typedef enum payload_word { COMMUNICATOR, BYTES, PEER, NRANKS, RANK, NWORDS } payload_word;

static const char *const payload_words[NWORDS] = { "NCCL communicator ID", "Message size [bytes]", "Peer rank",
                                                   "No. of ranks", "Rank" };

/* Position of a value in the payloads of a schema. */
typedef struct payload_field {
    uint64_t domain, schema, at, size;
    payload_word word;
} payload_field;

/* Data from the creation of a communicator. */
typedef struct communicator {
    int64_t nranks, rank;
} communicator;

/* A forward operator: the last one that began with its seq. */
typedef struct forward {
    int64_t start_ns, pid, tid;
    bool joined;
} forward;

struct tl_nvtx {
    TL_VEC(payload_field) fields;
    TL_VEC(communicator) communicators;
    TL_VEC(forward) forwards;
    tl_map of_communicator, of_seq;
    int64_t narrows;
    char group[32]; /* name of a communicator */
};

static uint64_t number_at(const char *bytes, size_t size)
{
    uint64_t number = 0;
    for (size_t i = size; i-- > 0;) /* little-endian, as on all machines that NVIDIA records */
        number = number << 8 | (unsigned char)bytes[i];
    return number;
}

/* ----------------------------------------------------------------------------------------------------------- payloads
 *
 *     0 domain   8 schema   16 size of what follows   24 size of all   32 values        4, 4, 8 and 8 bytes
 */

enum { PAYLOAD_HEAD = 32, FIELDS_MOST = 4096 };

/* Adds a field.  place: its domain, schema, offset and type as text. */
static bool add_field(void *arg, const char *name, const char *place)
{
    tl_nvtx *n = arg;
    unsigned long number[4];
    char *rest = (char *)(uintptr_t)(place != NULL ? place : "");

    for (int i = 0; i < 4; i++)
        number[i] = strtoul(rest, &rest, 10);
    const unsigned long type = number[3];
    const bool four = type == 5 || type == 6 || type == 15 || type == 16,
               eight = (type >= 7 && type <= 10) || type == 17 || type == 18 || type == 22;
    for (int word = 0; name != NULL && (four || eight) && word < NWORDS; word++)
        if (strcmp(name, payload_words[word]) == 0)
            tl_vec_push(&n->fields,
                        (payload_field){ number[0], number[1], number[2], four ? 4 : 8, (payload_word)word });
    return n->fields.n < FIELDS_MOST;
}

tl_nvtx *tl_nvtx_new(const tl_db *db)
{
    tl_nvtx *n = tl_calloc(1, sizeof *n);
    (void)tl_db_each(db,
                     "SELECT name, domainId || ' ' || schemaId || ' ' || coalesce(\"offset\", 0) || ' ' || type FROM "
                     "NVTX_PAYLOAD_SCHEMA_ENTRIES",
                     add_field, n);
    return n;
}

void tl_nvtx_free(tl_nvtx *n)
{
    free(n->fields.v);
    free(n->communicators.v);
    free(n->forwards.v);
    tl_map_free(&n->of_communicator);
    tl_map_free(&n->of_seq);
    free(n);
}

/* Reads the values of a payload; -1: absent. */
static void read_payload(const tl_nvtx *n, tl_text payload, int64_t values[NWORDS])
{
    for (int word = 0; word < NWORDS; word++)
        values[word] = -1;
    if (payload.n < PAYLOAD_HEAD)
        return;
    uint64_t domain = number_at(payload.p, 4), schema = number_at(payload.p + 8, 4);
    TL_EACH (const payload_field, f, n->fields)
        if (f->domain == domain && f->schema == schema && f->at < payload.n && f->size <= payload.n - PAYLOAD_HEAD &&
            f->at <= payload.n - PAYLOAD_HEAD - f->size)
            values[f->word] = (int64_t)number_at(payload.p + PAYLOAD_HEAD + f->at, f->size);
}

/* ------------------------------------------------------------------------------------------------------------- NCCL */

/* Names of functions in NCCL and in PyTorch, and the number of elements per rank in multiples of the message: given and
 * received; 0: times the number of ranks. */
static const struct {
    const char *function, *name;
    int gives, takes;
} functions[] = {
    { "ncclAllReduce", "nccl:all_reduce", 1, 1 },
    { "ncclAllGather", "nccl:all_gather", 1, 0 },
    { "ncclReduceScatter", "nccl:reduce_scatter", 0, 1 },
    { "ncclBroadcast", "nccl:broadcast", 1, 1 },
    { "ncclBcast", "nccl:broadcast", 1, 1 },
    { "ncclReduce", "nccl:reduce", 1, 1 },
    { "ncclAlltoAll", "nccl:all_to_all", 0, 0 },
    { "ncclAllToAll", "nccl:all_to_all", 0, 0 },
    { "ncclSend", "nccl:send", 1, 1 },
    { "ncclRecv", "nccl:recv", 1, 1 },
};

static void put_elements(tl_db_reading *r, tl_fields *entry, tl_key key, int64_t bytes, int64_t times)
{
    int64_t all;
    if (bytes >= 0 && times > 0 && !__builtin_mul_overflow(bytes, times, &all))
        tl_db_put_number(r, entry, key, all);
}

/* Names a range of NCCL after its function, and adds the values of its payload. */
static tl_text fill_nccl(tl_nvtx *n, tl_db_reading *r, const tl_db_row *row, tl_text name, tl_fields *entry)
{
    int64_t values[NWORDS];
    size_t k = 0, length;

    read_payload(n, tl_db_text(row, TL_DB_PAYLOAD), values);
    uint64_t id = (uint64_t)values[COMMUNICATOR];
    bool has_id = values[COMMUNICATOR] != -1;
    if (has_id && values[NRANKS] > 0 && values[RANK] >= 0) {
        tl_map_put(&n->of_communicator, id, (uint32_t)n->communicators.n);
        tl_vec_push(&n->communicators, (communicator){ values[NRANKS], values[RANK] });
    }
    while (k < sizeof functions / sizeof functions[0] && !tl_text_is(name, functions[k].function))
        k++;
    if (k == sizeof functions / sizeof functions[0])
        return name;
    uint32_t at = has_id ? tl_map_get(&n->of_communicator, id) : TL_MAP_NONE;
    const communicator made = at != TL_MAP_NONE ? n->communicators.v[at] : (communicator){ -1, -1 };
    if (has_id) {
        length = (size_t)snprintf(n->group, sizeof n->group, "NCCL %016" PRIx64, id);
        tl_db_put_text(entry, TL_KEY_PG_NAME, (tl_text){ n->group, length });
    }
    if (made.nranks > 0)
        tl_db_put_number(r, entry, TL_KEY_GROUP_SIZE, made.nranks);
    if (values[BYTES] >= 0)
        tl_db_put_text(entry, TL_KEY_DTYPE, TL_TEXT("Byte"));
    put_elements(r, entry, TL_KEY_IN_NELEMS, values[BYTES], functions[k].gives > 0 ? 1 : made.nranks);
    put_elements(r, entry, TL_KEY_OUT_NELEMS, values[BYTES], functions[k].takes > 0 ? 1 : made.nranks);
    const char *word = functions[k].name, *arrow = strcmp(word, "nccl:recv") == 0 ? "<-" : "->";
    bool p2p = strcmp(word, "nccl:send") == 0 || arrow[0] == '<';
    if (!p2p || values[PEER] < 0 || made.rank < 0)
        return (tl_text){ word, strlen(word) };
    length =
        (size_t)snprintf(r->name, sizeof r->name, "%s %" PRId64 "%s%" PRId64, word, made.rank, arrow, values[PEER]);
    return (tl_text){ r->name, length };
}

/* -------------------------------------------------------------------------------------------------------- operators */

/* Returns the name of an operator that emit_nvtx wrote as "aten::add, seq = 7, op_id = 9, sizes = [...]"; empty: the
 * range is not one.  *seq: INT64_MIN: none. */
static tl_text operator_in(tl_text name, int64_t *seq)
{
    tl_text head = { name.p, 0 };

    *seq = INT64_MIN;
    while (head.n < name.n && name.p[head.n] != ',')
        head.n++;
    tl_text rest = { name.p + head.n, name.n - head.n };
    bool has_seq = tl_text_starts(rest, ", seq = ");
    if (has_seq) {
        size_t from = strlen(", seq = "), to = from;
        while (to < rest.n && isdigit((unsigned char)rest.p[to]))
            to++;
        if (!tl_decimal_to_int(rest.p + from, to - from, seq))
            *seq = INT64_MIN;
    }
    return has_seq || tl_text_starts(rest, ", op_id = ") ? head
           : tl_text_starts(name, "aten::")              ? name
                                                         : (tl_text){ name.p, 0 };
}

static void put_arrow(tl_nvtx *n, tl_db_reading *r, const forward *at, const char *phase)
{
    tl_fields *arrow = tl_calloc(1, sizeof *arrow);

    tl_db_put_text(arrow, TL_KEY_PH, (tl_text){ phase, 1 });
    tl_db_put_text(arrow, TL_KEY_CAT, TL_TEXT("fwdbwd"));
    tl_db_put_number(r, arrow, TL_KEY_ID, n->narrows);
    tl_db_put_number(r, arrow, TL_KEY_PID, at->pid);
    tl_db_put_number(r, arrow, TL_KEY_TID, at->tid);
    tl_db_put_ns(arrow, TL_KEY_TS, at->start_ns);
    tl_db_take(r, arrow, "NVTX_EVENTS");
    free(arrow);
}

/* Adds a forward operator, or links a backward operator to it. */
static void link_passes(tl_nvtx *n, tl_db_reading *r, const tl_db_row *row, tl_text name, int64_t seq)
{
    const int64_t process = TL_DB_HAS(row, TL_DB_PROCESS) ? row->number[TL_DB_PROCESS] : 0;
    const forward now = { row->number[TL_DB_START], process >> 24 & 0xffffff, process & 0xffffff, false };
    uint32_t at = tl_map_get(&n->of_seq, (uint64_t)seq);

    if (!tl_text_has(name, "Backward")) {
        if (at == TL_MAP_NONE) {
            tl_map_put(&n->of_seq, (uint64_t)seq, (uint32_t)n->forwards.n);
            tl_vec_push(&n->forwards, now);
        } else if (!n->forwards.v[at].joined && now.start_ns >= n->forwards.v[at].start_ns) {
            n->forwards.v[at] = now;
        }
    } else if (at != TL_MAP_NONE && !n->forwards.v[at].joined) {
        n->forwards.v[at].joined = true;
        n->narrows++;
        put_arrow(n, r, &n->forwards.v[at], "s");
        put_arrow(n, r, &now, "f");
    }
}

/* ---------------------------------------------------------------------------------------------------------- a range */

bool tl_nvtx_fill(tl_nvtx *n, tl_db_reading *r, const tl_db_row *row, tl_text name, tl_fields *entry)
{
    int64_t seq;

    if (name.n == 0 || !TL_DB_HAS(row, TL_DB_END))
        return false;
    tl_text op = operator_in(name, &seq);
    if (op.n > 0) {
        tl_db_put_text(entry, TL_KEY_CAT, TL_TEXT("cpu_op"));
        name = op;
        if (seq >= 0)
            link_passes(n, r, row, name, seq);
    } else if (tl_text_starts(name, "nccl")) {
        name = fill_nccl(n, r, row, name, entry);
    }
    tl_db_put_text(entry, TL_KEY_NAME, name);
    return true;
}

#endif
