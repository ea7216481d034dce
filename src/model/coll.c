/* coll.c - sizes of messages and elements, and what kinds of collectives have in common. */
#include "tlmpi/model/coll.h"

int64_t tl_dtype_bytes(tl_text name)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } types[] = {
        { "Float", 4 },  { "BFloat16", 2 },    { "Half", 2 },         { "Double", 8 },
        { "Int", 4 },    { "Long", 8 },        { "Short", 2 },        { "Byte", 1 },
        { "Char", 1 },   { "Bool", 1 },        { "UInt16", 2 },       { "UInt32", 4 },
        { "UInt64", 8 }, { "ComplexHalf", 4 }, { "ComplexFloat", 8 }, { "ComplexDouble", 16 },
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (tl_text_is(name, types[i].name))
            return types[i].bytes;
    return tl_text_starts(name, "Float8_") ? 1 : -1;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t tl_message_bytes(tl_collective kind, int64_t in_nelems, int64_t out_nelems, int64_t dtype_bytes)
{
    int64_t elements = -1, bytes;

    switch (kind) {
    case TL_ALL_REDUCE:
    case TL_REDUCE_SCATTER:
    case TL_ALL_TO_ALL:
    case TL_SEND:
        elements = in_nelems;
        break;
    case TL_ALL_GATHER:
    case TL_RECV:
        elements = out_nelems;
        break;
    case TL_COLL_NONE:
    case TL_COLL_UNKNOWN:
    case TL_BROADCAST:
    case TL_REDUCE:
    case TL_GATHER:
    case TL_SCATTER:
    case TL_SEND_RECV:
    case TL_BARRIER:
    case TL_NCOLLECTIVES:
        elements = larger(in_nelems, out_nelems);
        break;
    }
    return elements >= 0 && dtype_bytes >= 0 && !__builtin_mul_overflow(elements, dtype_bytes, &bytes) ? bytes : -1;
}

bool tl_is_synchronising(tl_collective kind)
{
    return kind == TL_ALL_REDUCE || kind == TL_ALL_GATHER || kind == TL_REDUCE_SCATTER || kind == TL_BARRIER;
}

bool tl_is_loose(tl_collective kind)
{
    return !tl_is_synchronising(kind);
}

bool tl_is_point_to_point(tl_collective kind)
{
    return kind == TL_SEND || kind == TL_RECV || kind == TL_SEND_RECV;
}

bool tl_is_loose_of_group(tl_collective kind)
{
    return tl_is_loose(kind) && !tl_is_point_to_point(kind);
}

bool tl_is_of_one_size(tl_collective kind)
{
    return tl_is_synchronising(kind) || kind == TL_BROADCAST || kind == TL_REDUCE;
}

bool tl_is_of_sends(tl_collective kind)
{
    return tl_is_point_to_point(kind) || kind == TL_ALL_TO_ALL || kind == TL_GATHER || kind == TL_SCATTER;
}

bool tl_is_sender(tl_collective kind, int32_t rank, int32_t peer)
{
    return kind == TL_SEND || (kind != TL_RECV && rank < peer);
}

double tl_bus_factor(tl_collective kind, int32_t n)
{
    double share = n > 1 ? (double)(n - 1) / (double)n : 0;
    switch (kind) {
    case TL_ALL_REDUCE:
        return 2 * share;
    case TL_ALL_GATHER:
    case TL_REDUCE_SCATTER:
    case TL_ALL_TO_ALL:
    case TL_GATHER:
    case TL_SCATTER:
        return share;
    default:
        return 1;
    }
}
