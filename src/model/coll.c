/* coll.c - sizes of messages and elements, and what kinds of collectives have in common. */
#include "tlmpi/model/coll.h"

static const struct {
    const char *name, *type; /* names in c10 and in C++ */
    int64_t bytes;
    tl_precision precision;
} types[] = {
    { "", "", -1, TL_NPRECISIONS },
    { "Float", "float", 4, TL_F32 },
    { "BFloat16", "c10::BFloat16", 2, TL_BF16 },
    { "Half", "c10::Half", 2, TL_F16 },
    { "Double", "double", 8, TL_F64 },
    { "Int", "int", 4, TL_NPRECISIONS },
    { "Long", "long", 8, TL_NPRECISIONS },
    { "Long", "long int", 8, TL_NPRECISIONS },
    { "Short", "short", 2, TL_NPRECISIONS },
    { "Short", "short int", 2, TL_NPRECISIONS },
    { "Byte", "unsigned char", 1, TL_NPRECISIONS },
    { "Char", "signed char", 1, TL_NPRECISIONS },
    { "Bool", "bool", 1, TL_NPRECISIONS },
    { "UInt16", "unsigned short", 2, TL_NPRECISIONS },
    { "UInt32", "unsigned int", 4, TL_NPRECISIONS },
    { "UInt64", "unsigned long", 8, TL_NPRECISIONS },
    { "ComplexHalf", "c10::complex<c10::Half>", 4, TL_NPRECISIONS },
    { "ComplexFloat", "c10::complex<float>", 8, TL_NPRECISIONS },
    { "ComplexDouble", "c10::complex<double>", 16, TL_NPRECISIONS },
    { "Float8_e4m3fn", "c10::Float8_e4m3fn", 1, TL_F8 },
    { "Float8_e5m2", "c10::Float8_e5m2", 1, TL_F8 },
    { "Float8_e4m3fnuz", "c10::Float8_e4m3fnuz", 1, TL_F8 },
    { "Float8_e5m2fnuz", "c10::Float8_e5m2fnuz", 1, TL_F8 },
};
enum { NTYPES = sizeof types / sizeof types[0] };

int64_t tl_dtype_bytes(tl_text name)
{
    for (size_t i = 1; i < NTYPES; i++)
        if (tl_text_is(name, types[i].name))
            return types[i].bytes;
    return tl_text_starts(name, "Float8_") ? 1 : -1;
}

tl_dtype tl_dtype_of_type(tl_text type)
{
    for (size_t i = 1; i < NTYPES; i++)
        if (tl_text_is(type, types[i].type))
            return (tl_dtype)i;
    return 0;
}

tl_precision tl_precision_of(tl_dtype dtype)
{
    return types[dtype < NTYPES ? dtype : 0].precision;
}

const char *tl_dtype_name(tl_dtype dtype)
{
    return types[dtype < NTYPES ? dtype : 0].name;
}

int64_t tl_message_bytes(tl_collective kind, int64_t in_nelems, int64_t out_nelems, int64_t dtype_bytes)
{
    int64_t elements, bytes;

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
    default:
        elements = in_nelems > out_nelems ? in_nelems : out_nelems;
    }
    return elements >= 0 && dtype_bytes >= 0 && !__builtin_mul_overflow(elements, dtype_bytes, &bytes) ? bytes : -1;
}

bool tl_is_synchronising(tl_collective kind)
{
    return kind == TL_ALL_REDUCE || kind == TL_ALL_GATHER || kind == TL_REDUCE_SCATTER || kind == TL_BARRIER ||
           kind == TL_MEETING;
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
