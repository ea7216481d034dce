/* json.c - JSON text in one of three layouts. */
#include "json.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BUFFER ((size_t)1 << 18)
#define DEPTH 8

struct json {
    enum layout layout;
    FILE *plain;
    gzFile packed;
    bool failed;
    int64_t flushed;
    size_t n;
    int depth;
    bool any[DEPTH], flat[DEPTH];       /* whether the container holds something; whether it keeps to its line */
    bool value_next;                    /* a key has been written */
    char buffer[BUFFER];
};

struct json *json_open(const char *path, enum layout layout, bool gzip)
{
    struct json *j = malloc(sizeof *j);
    if (j == NULL)
        return NULL;
    memset(j, 0, offsetof(struct json, buffer));
    j->layout = layout;
    if (path != NULL && gzip)
        j->packed = gzopen(path, "wb6");
    else if (path != NULL)
        j->plain = fopen(path, "wb");
    if (path != NULL && j->packed == NULL && j->plain == NULL) {
        int why = errno;
        free(j);
        errno = why;
        return NULL;
    }
    if (j->plain != NULL)
        setvbuf(j->plain, NULL, _IONBF, 0);
    return j;
}

static void flush(struct json *j)
{
    if (j->packed != NULL && j->n > 0 && gzwrite(j->packed, j->buffer, (unsigned)j->n) != (int)j->n)
        j->failed = true;
    if (j->plain != NULL && fwrite(j->buffer, 1, j->n, j->plain) != j->n)
        j->failed = true;
    j->flushed += (int64_t)j->n;
    j->n = 0;
}

bool json_close(struct json *j)
{
    flush(j);
    bool ok = !j->failed;
    if (j->packed != NULL && gzclose(j->packed) != Z_OK)
        ok = false;
    if (j->plain != NULL && fclose(j->plain) != 0)
        ok = false;
    free(j);
    return ok;
}

int64_t json_bytes(const struct json *j)
{
    return j->flushed + (int64_t)j->n;
}

static void put(struct json *j, const char *text, size_t n)
{
    while (n > 0) {
        if (j->n == BUFFER)
            flush(j);
        size_t part = n < BUFFER - j->n ? n : BUFFER - j->n;
        memcpy(j->buffer + j->n, text, part);
        j->n += part;
        text += part;
        n -= part;
    }
}

static void put_char(struct json *j, char c)
{
    if (j->n == BUFFER)
        flush(j);
    j->buffer[j->n++] = c;
}

static void new_line(struct json *j)
{
    put_char(j, '\n');
    for (int i = 0; i < j->depth; i++)
        put(j, "  ", 2);
}

/* What stands between this item of a container and the one before. */
static void separate(struct json *j, bool line)
{
    if (j->value_next) {
        j->value_next = false;
        return;
    }
    if (j->depth == 0)
        return;
    bool first = !j->any[j->depth - 1];
    j->any[j->depth - 1] = true;
    if (!first)
        put_char(j, ',');
    if (j->layout == LAYOUT_INDENT ||
        (j->layout == LAYOUT_KINETO && !j->flat[j->depth - 1] && (first || line)))
        new_line(j);
    else if (!first)
        put_char(j, ' ');
}

void json_begin(struct json *j, char bracket, bool flat)
{
    separate(j, true);
    put_char(j, bracket);
    j->any[j->depth] = false;
    j->flat[j->depth] = flat;
    j->depth++;
}

void json_end(struct json *j, char bracket)
{
    j->depth--;
    if (j->any[j->depth] && (j->layout == LAYOUT_INDENT || (j->layout == LAYOUT_KINETO && !j->flat[j->depth])))
        new_line(j);
    put_char(j, bracket);
}

void json_key(struct json *j, const char *key, bool line)
{
    separate(j, line);
    put_char(j, '"');
    put(j, key, strlen(key));
    put(j, "\": ", 3);
    j->value_next = true;
}

/* The digits of a number, at least `least` of them. */
static void put_digits(struct json *j, uint64_t value, int least)
{
    char digits[20];
    size_t n = 0;
    while (value > 0 || n < (size_t)least) {
        digits[sizeof digits - ++n] = (char)('0' + value % 10);
        value /= 10;
    }
    put(j, digits + sizeof digits - n, n);
}

static void put_sign(struct json *j, int64_t value)
{
    if (value < 0)
        put_char(j, '-');
}

static uint64_t size_of(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

void json_text(struct json *j, const char *text)
{
    separate(j, false);
    put_char(j, '"');
    put(j, text, strlen(text));
    put_char(j, '"');
}

void json_text_number(struct json *j, const char *text, int64_t number)
{
    separate(j, false);
    put_char(j, '"');
    put(j, text, strlen(text));
    put_sign(j, number);
    put_digits(j, size_of(number), 1);
    put_char(j, '"');
}

void json_raw(struct json *j, const char *value)
{
    separate(j, false);
    put(j, value, strlen(value));
}

void json_int(struct json *j, int64_t value)
{
    separate(j, false);
    put_sign(j, value);
    put_digits(j, size_of(value), 1);
}

void json_decimal(struct json *j, int64_t value, int decimals)
{
    uint64_t scale = 1, size = size_of(value);
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    separate(j, false);
    put_sign(j, value);
    put_digits(j, size / scale, 1);
    put_char(j, '.');
    uint64_t fraction = size % scale;
    /* Python writes a float without zeros at its end. */
    for (; j->layout != LAYOUT_KINETO && decimals > 1 && fraction % 10 == 0; decimals--)
        fraction /= 10;
    put_digits(j, fraction, decimals);
}
