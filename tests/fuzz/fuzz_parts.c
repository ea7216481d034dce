/* fuzz_parts.c - any bytes, given to one part of the program: the variable TLMPI_FUZZ names it.
 *
 *     decimal      a number             to a double as strtod has it; to ns as strtold has it, to half a ns
 *     packing      a compressed file    the same text and the same fault in blocks of any size; all that zlib reads
 *     execution    an execution trace   the same nodes plain and packed
 *     rules        a file of rules      refused with the file's name, or it classifies names
 *     options      a word a line        a command line, refused with words, or recorded and restored
 *     where        a condition a line   the rows of a result of which all hold are found, or they are refused with words
 *     result       eight bytes an edit  of a result, which is then sealed: it is shown, or refused with words
 *     database     an SQLite database   its ranks are read, linked and analysed
 *     pftrace      a Perfetto trace     likewise
 *     metadata     key and value        of a recorder's line, which is JSON as yajl has it
 *
 * TLMPI_FUZZ_RESULT is the path of the result that `where` and `result` begin with.
 */
#include "fuzz.h"
#include "../../src/app/select.h"
#include "../../src/record/internal.h"
#include "../../src/store/seal.h"
#include "tlmpi/base/decimal.h"
#include "tlmpi/base/log.h"
#include "tlmpi/trace/read/execution.h"
#include "tlmpi/trace/view.h"
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yajl/yajl_parse.h>
#include <zlib.h>

/* A file with a name of its own and this ending, for what looks at the name. */
static char named[64];

static void remove_named(void)
{
    (void)unlink(named);
}

static void write_named(const char *ending, const void *data, size_t n)
{
    if (named[0] == '\0') {
        snprintf(named, sizeof named, "/dev/shm/tlmpi-fuzz-%d%s", (int)getpid(), ending);
        (void)atexit(remove_named);
    }
    FILE *file = fopen(named, "wb");
    if (file == NULL || fwrite(data, 1, n, file) != n || fclose(file) != 0)
        fuzz_broken(named);
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

static void decimal(const uint8_t *data, size_t n)
{
    const char *text = (const char *)data;
    char copy[512], *end;
    double value;
    int64_t ns, whole;

    if (n >= sizeof copy)
        return;
    memcpy(copy, text, n);
    copy[n] = '\0';
    const bool number = tl_decimal_to_double(text, n, &value);
    const bool fits = tl_decimal_us_to_ns(text, n, &ns), is_whole = tl_decimal_to_int(text, n, &whole);
    if (!number) {
        if (fits || is_whole)
            fuzz_differ("no number, and one in ns", fits, is_whole);
        return;
    }
    const double other = strtod(copy, &end);
    if (*end != '\0' || memcmp(&other, &value, sizeof value) != 0)
        fuzz_differ("strtod", (int64_t)value, (int64_t)other);
    const long double exact = strtold(copy, NULL) * 1000;
    if (fits != (fabsl(exact) < 9223372036854775807.5L) && fabsl(fabsl(exact) - 9223372036854775807.5L) > 2)
        fuzz_differ("a time that fits", fits, (int64_t)other);
    if (fits && fabsl(exact - (long double)ns) > 0.5L + fabsl(exact) * 1e-18L)
        fuzz_differ("strtold", ns, (int64_t)exact);
    if (is_whole && fabsl(strtold(copy, NULL) - (long double)whole) > fabsl((long double)whole) * 1e-18L)
        fuzz_differ("a whole number", whole, (int64_t)other);
}

/* ----------------------------------------------------------------------------------------------------- packed files */

enum { MOST_TEXT = 1 << 20 };

/* Reads in blocks of up to `cap` bytes; returns the fault, without the path. */
static tl_error read_blocks(const char *path, size_t cap, tl_bytes *text)
{
    static char block[1 << 16];
    tl_source *source;
    tl_error err = { 0 };
    size_t got = 0;

    if (tl_source_open(path, &source, &err) != TL_OK)
        return err;
    while (tl_source_read(source, block, cap, &got, &err) == TL_OK && got > 0 && text->n < MOST_TEXT)
        tl_bytes_put(text, block, got);
    if (text->n >= MOST_TEXT)
        err = (tl_error){ 0 };
    tl_source_close(source);
    return err;
}

/* What zlib reads of one gzip file of any number of members; false: not all. */
static bool inflate_all(const uint8_t *data, size_t n, tl_bytes *text)
{
    uint8_t block[4096];
    z_stream z = { .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)n };
    int rc = inflateInit2(&z, 15 + 16);

    while (rc == Z_OK && text->n < MOST_TEXT) {
        z.next_out = block;
        z.avail_out = sizeof block;
        rc = inflate(&z, Z_NO_FLUSH);
        tl_bytes_put(text, block, sizeof block - z.avail_out);
        if (rc == Z_STREAM_END && z.avail_in > 0)
            rc = inflateReset(&z);
    }
    inflateEnd(&z);
    return rc == Z_STREAM_END && text->n < MOST_TEXT;
}

static void compare_text(const char *what, const tl_bytes *a, const tl_bytes *b)
{
    if (a->n != b->n || (a->n > 0 && memcmp(a->v, b->v, a->n) != 0))
        fuzz_differ(what, (int64_t)a->n, (int64_t)b->n);
}

static void packing(const uint8_t *data, size_t n)
{
    tl_bytes whole = { 0 }, pieces = { 0 }, other = { 0 };
    const tl_error fault = read_blocks(fuzz_file(data, n), 1 << 16, &whole);

    if (whole.n < MOST_TEXT) {
        const tl_error again = read_blocks(fuzz_file(data, n), 1 + n % 97, &pieces);
        compare_text("small blocks", &whole, &pieces);
        if (fault.status != again.status || strcmp(fault.text, again.text) != 0)
            fuzz_differ("the fault in small blocks", (int64_t)fault.status, (int64_t)again.status);
    }
    if (n > 18 && data[0] == 0x1f && data[1] == 0x8b && inflate_all(data, n, &other)) {
        compare_text("zlib", &whole, &other);
        if (fault.status != TL_OK)
            fuzz_differ("zlib reads all", (int64_t)fault.status, (int64_t)n);
    }
    tl_bytes_free(&whole);
    tl_bytes_free(&pieces);
    tl_bytes_free(&other);
}

/* -------------------------------------------------------------------------------------------------- files beside it */

static void execution(const uint8_t *data, size_t n)
{
    tl_exec plain = { 0 }, packed = { 0 };
    tl_error err = { 0 };

    (void)tl_exec_is(fuzz_file(data, n));
    tl_status st = tl_exec_read(fuzz_file(data, n), TL_EXEC_ALL_TEXTS, &plain, &err);
    if (st == TL_OK && !fuzz_is_packed(data, n) && n > 0) {
        if (tl_exec_read(fuzz_file_packed(data, n), TL_EXEC_ALL_TEXTS, &packed, &err) != TL_OK)
            fuzz_differ("packed", (int64_t)st, (int64_t)n);
        if (plain.nodes.n != packed.nodes.n || plain.damaged != packed.damaged || plain.cut != packed.cut ||
            plain.pid != packed.pid || plain.without_id != packed.without_id || strcmp(plain.fault, packed.fault) != 0)
            fuzz_differ("packed", (int64_t)plain.nodes.n, (int64_t)packed.nodes.n);
        for (size_t i = 0; i < plain.nodes.n; i++)
            if (memcmp(&plain.nodes.v[i], &packed.nodes.v[i], sizeof *plain.nodes.v) != 0)
                fuzz_differ("packed: a node", plain.nodes.v[i].id, packed.nodes.v[i].id);
    }
    tl_exec_free(&plain);
    tl_exec_free(&packed);
}

static void rules(const uint8_t *data, size_t n)
{
    tl_rules read = { 0 };
    tl_error err = { 0 };
    const char *path = fuzz_file(data, n);

    if (tl_rules_read(path, &read, &err) == TL_OK)
        (void)tl_classify(&read, TL_TEXT("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...)"));
    else if (strncmp(err.text, path, strlen(path)) != 0)
        fuzz_differ("a fault without its file", (int64_t)err.status, (int64_t)n);
    tl_rules_free(&read);
}

/* ---------------------------------------------------------------------------------------------------- command lines */

enum { MOST_WORDS = 24 };

/* Appends each line as a word behind `before`; text: n bytes, and room for a 0. */
static int words_of(const char *const *before, const char *option, char *text, size_t n, char **words)
{
    int nwords = 0;
    while (before[nwords] != NULL)
        words[nwords] = (char *)(uintptr_t)before[nwords], nwords++;
    text[n] = '\0';
    for (char *line = text, *next; line != NULL && nwords + 2 < MOST_WORDS; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        if (option != NULL)
            words[nwords++] = (char *)(uintptr_t)option;
        words[nwords++] = line;
    }
    words[nwords] = NULL;
    return nwords;
}

static void check_words(tl_status st, const tl_error *err)
{
    if (st != TL_OK && (err->status != st || err->text[0] == '\0' || strchr(err->text, '\n') != NULL))
        fuzz_differ("a fault without words", (int64_t)st, (int64_t)err->status);
}

/* Runs a command of one proc, if the words are a command line. */
static void command(int nwords, char **words)
{
    tl_cli cli;
    tl_error err = { 0 };
    tl_status st = tl_cli_parse(&cli, nwords, words, &err);
    check_words(st, &err);
    if (st == TL_OK && !cli.help && !cli.version) {
        const int code = cli.command->act(&cli);
        if (code < 0 || code > 5)
            fuzz_differ("an exit status", code, 0);
    }
    tl_cli_free(&cli);
}

static void options(const uint8_t *data, size_t n)
{
    static const char *const before[] = { "tlmpi", NULL };
    char *text = tl_strndup((const char *)data, n), *words[MOST_WORDS + 1];
    const int nwords = words_of(before, NULL, text, n, words);
    tl_cli cli;
    tl_error err = { 0 };
    tl_status st = tl_cli_parse(&cli, nwords, words, &err);

    check_words(st, &err);
    if (st == TL_OK && cli.help)
        tl_cli_help(stdout, &cli);
    if (st == TL_OK && cli.settings != NULL) {
        char *record = tl_strndup(cli.settings, strlen(cli.settings));
        st = tl_options_restore(&cli, cli.command->bit, record, &err);
        check_words(st, &err);
        free(record);
    }
    tl_cli_free(&cli);
    free(text);
}

static const char *const tables[] = {
    "interval", "rank", "culprit", "breakdown", "kernel", "coll", "straggler", "step"
};

enum { NTABLES = sizeof tables / sizeof tables[0] };

static tl_status count_row(void *arg, const unsigned char *row, bool *enough, tl_error *err)
{
    (void)row, (void)enough, (void)err;
    ++*(uint64_t *)arg;
    return TL_OK;
}

static void where(const uint8_t *data, size_t n)
{
    static tl_result *opened;
    tl_error err = { 0 };
    if (opened == NULL && tl_result_open(getenv("TLMPI_FUZZ_RESULT"), &opened, &err) != TL_OK)
        fuzz_broken("TLMPI_FUZZ_RESULT");
    if (n == 0)
        return;
    const char *const table = tables[data[0] % NTABLES], *const before[] = { "tlmpi", "show", "it.h5", table, NULL };
    char *text = tl_strndup((const char *)data + 1, n - 1), *words[MOST_WORDS + 1];
    const int nwords = words_of(before, "--where", text, n - 1, words);
    uint64_t nrows = 0;
    tl_cli cli;
    tl_select select = { 0 };
    tl_status st = tl_cli_parse(&cli, nwords, words, &err);

    if (st == TL_OK)
        st = tl_select_init(&select, opened, table, &cli, &err);
    if (st == TL_OK)
        st = tl_select_walk(&select, count_row, &nrows, &err);
    check_words(st, &err);
    if (nrows > tl_result_nrows(opened, select.table))
        fuzz_differ("more rows than there are", (int64_t)nrows, 0);
    tl_select_free(&select);
    tl_cli_free(&cli);
    free(text);
}

/* ---------------------------------------------------------------------------------------------------------- results */

/* The result that others begin with. */
static const tl_bytes *base_result(void)
{
    static tl_bytes base;
    char block[4096];
    const char *path = getenv("TLMPI_FUZZ_RESULT");
    FILE *file = base.n == 0 ? fopen(path != NULL ? path : "", "rb") : NULL;

    if (base.n == 0 && file == NULL)
        fuzz_broken("TLMPI_FUZZ_RESULT");
    for (size_t got = 1; file != NULL && got > 0; tl_bytes_put(&base, block, got))
        got = fread(block, 1, sizeof block, file);
    if (file != NULL)
        fclose(file);
    return &base;
}

typedef struct edit {
    uint8_t what, table;
    uint16_t row, at, value;
} edit;

/* Numbers that are at a limit, and others. */
static uint64_t number_of(uint16_t value)
{
    static const uint64_t limits[] = {
        0,         UINT64_MAX,       INT64_MAX, (uint64_t)INT64_MAX + 1, 0x7ff0000000000000, 0x7ff8000000000000,
        INT32_MAX, (uint64_t)1 << 62
    };
    return value % 3 > 0 ? limits[value / 3 % 8] : value;
}

/* Changes some bytes of an attribute that is no text of variable length. */
static void edit_attribute(hid_t of, const edit *e)
{
    hid_t attribute = H5Aopen_by_idx(of, ".", H5_INDEX_NAME, H5_ITER_INC, e->row % 40, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    const size_t size = attribute >= 0 ? (size_t)H5Aget_storage_size(attribute) : 0;
    const uint64_t value = number_of(e->value);

    if (size > 0 && H5Tis_variable_str(type) == 0) {
        char *bytes = tl_calloc(size, 1);
        if (H5Aread(attribute, type, bytes) >= 0) {
            const size_t at = e->at % size;
            memcpy(bytes + at, &value, size - at < sizeof value ? size - at : sizeof value);
            (void)H5Awrite(attribute, type, bytes);
        }
        free(bytes);
    }
    (void)H5Tclose(type);
    (void)H5Aclose(attribute);
}

/* Changes a cell, or a part of one, of a column. */
static void edit_cell(hid_t dataset, const edit *e)
{
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const size_t size = H5Tget_size(type);
    const hssize_t nrows = H5Sget_simple_extent_npoints(space);
    const bool row_of_cells = H5Tget_class(type) == H5T_COMPOUND || H5Tget_class(type) == H5T_INTEGER;

    if (nrows > 0 && row_of_cells && (size_t)nrows * size < (4 << 20)) {
        unsigned char *rows = tl_malloc((size_t)nrows * size);
        if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0) {
            const int members = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
            const unsigned member = members > 0 ? e->at % (unsigned)members : 0;
            const size_t at = members > 0 ? H5Tget_member_offset(type, member) : 0;
            const uint64_t value = number_of(e->value);
            for (size_t i = e->row % (size_t)nrows; i < (size_t)nrows; i += e->what % 2 == 0 ? (size_t)nrows : 1)
                memcpy(rows + i * size + at, &value, size - at < sizeof value ? size - at : sizeof value);
            (void)H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows);
        }
        free(rows);
    }
    (void)H5Sclose(space);
    (void)H5Tclose(type);
}

static void apply(hid_t file, const edit *e)
{
    char name[256] = "/name_bytes";
    H5G_info_t info;
    hid_t group = H5Gopen2(file, "/tables", H5P_DEFAULT);
    if (e->table < 250 && H5Gget_info(group, &info) >= 0 && info.nlinks > 0)
        (void)H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, e->table % info.nlinks, name, sizeof name,
                                 H5P_DEFAULT);
    const hsize_t rows = (hsize_t)e->row * (e->at % 2 == 0 ? 1 : 65536);
    hid_t dataset = H5Dopen2(name[0] == '/' ? file : group, name, H5P_DEFAULT);

    if (e->what % 8 < 5)
        edit_cell(dataset, e);
    else if (e->what % 8 == 5)
        edit_attribute(e->table % 4 == 0 ? file : dataset, e);
    else if (e->what % 8 == 6)
        (void)H5Dset_extent(dataset, &rows);
    (void)H5Dclose(dataset);
    if (e->what % 8 == 7)
        (void)H5Ldelete(name[0] == '/' ? file : group, name, H5P_DEFAULT);
    (void)H5Gclose(group);
}

static void result(const uint8_t *data, size_t n)
{
    static const char *const asked[][6] = { { "ask" },
                                            { "ask", "--json" },
                                            { "html", "-f", "-o", "/dev/shm/tlmpi-fuzz.html" },
                                            { "export", "-f", "-o", "/dev/shm/tlmpi-fuzz.json" },
                                            { "whatif" },
                                            { "show" } };
    enum { NASKED = sizeof asked / sizeof asked[0] };
    char *words[12] = { (char *)(uintptr_t) "tlmpi" };
    tl_error err = { 0 };
    int nwords = 1;
    edit e;

    if (n == 0)
        return;
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    write_named(".h5", base_result()->v, base_result()->n);
    hid_t file = H5Fopen(named, H5F_ACC_RDWR, H5P_DEFAULT);
    for (size_t at = 1; at + sizeof e <= n && at < 32 * sizeof e; at += sizeof e) {
        memcpy(&e, data + at, sizeof e);
        apply(file, &e);
    }
    if (file < 0 || H5Fclose(file) < 0 || tl_seal_write(named, &err) != TL_OK)
        fuzz_broken("an edited result");
    const unsigned which = data[0] % (NASKED + NTABLES);
    for (const char *const *word = asked[which < NASKED ? which : NASKED - 1]; *word != NULL; word++)
        words[nwords++] = (char *)(uintptr_t)*word;
    words[nwords++] = named;
    if (which >= NASKED)
        words[nwords++] = (char *)(uintptr_t)tables[which - NASKED];
    command(nwords, words);
}

/* ------------------------------------------------------------------------------------------ traces of other formats */

static void foreign(const char *ending, const uint8_t *data, size_t n)
{
    char words[400], path[400];
    tl_bytes parts = { 0 };
    tl_look look;
    tl_error err = { 0 };
    int nread = 0;

    write_named(ending, data, n);
    tl_look_at(named, true, true, &look);
    tl_format_say(named, words, sizeof words);
    tl_parts_list(named, &parts);
    tl_bytes_put(&parts, "", parts.n == 0);
    for (const char *part = parts.v; part < parts.v + parts.n && nread < 4; part += strlen(part) + 1, nread++) {
        const tl_read_options read = { .keep = TL_LINK_KEEP };
        tl_trace trace;
        snprintf(path, sizeof path, *part != '\0' ? "%s/%s" : "%s", named, part);
        tl_status st = tl_trace_read(path, &read, &trace, &err);
        check_words(st, &err);
        if (st == TL_OK)
            fuzz_analyse(&trace);
        tl_trace_free(&trace);
    }
    tl_bytes_free(&parts);
}

static void database(const uint8_t *data, size_t n)
{
    foreign(".sqlite", data, n);
}

static void pftrace(const uint8_t *data, size_t n)
{
    foreign(".pftrace", data, n);
}

/* --------------------------------------------------------------------------------------------------------- recorder */

static bool is_json(const char *text, size_t n)
{
    static const yajl_callbacks none;
    yajl_handle parser = yajl_alloc(&none, NULL, NULL);
    const bool good = yajl_parse(parser, (const unsigned char *)text, n) == yajl_status_ok &&
                      yajl_complete_parse(parser) == yajl_status_ok;
    yajl_free(parser);
    return good;
}

/* A byte of the type, the name, a line end, the key, a line end, the value. */
static void metadata(const uint8_t *data, size_t n)
{
    if (n == 0)
        return;
    char *text = tl_strndup((const char *)data + 1, n - 1), *key = text + strcspn(text, "\n");
    key += *key != '\0' ? (*key = '\0', 1) : 0;
    char *value = key + strcspn(key, "\n");
    value += *value != '\0' ? (*value = '\0', 1) : 0;
    tlmpi_record_value more = { .key = key, .type = data[0] % 5, .as.text = value };
    tl_record_said said = { .name = text, .step = 7, .rank = 3, .metadata = &more, .nmetadata = 1 };
    tl_record_text line = { 0 };
    size_t at = 0;

    if (more.type == TLMPI_RECORD_INT || more.type == TLMPI_RECORD_BOOL)
        more.as.integer = strtoll(value, NULL, 0);
    else if (more.type == TLMPI_RECORD_DOUBLE)
        more.as.real = strtod(value, NULL);
    if (tl_record_line_fault(&said) == NULL) {
        tl_record_line_add(&line, &said, &at);
        tl_bytes whole = { 0 };
        tl_bytes_put(&whole, line.bytes, at);
        tl_bytes_put(&whole, "1.25", 4);
        tl_bytes_put(&whole, line.bytes + at, line.n - at);
        if (line.failed || !is_json(whole.v, whole.n) || memchr(whole.v, '\n', whole.n) != whole.v + whole.n - 1)
            fuzz_differ("a line that is no JSON", (int64_t)whole.n, (int64_t)at);
        tl_bytes_free(&whole);
    }
    tl_record_text_free(&line);
    free(text);
}

/* ------------------------------------------------------------------------------------------------------------- parts */

static const struct {
    const char *name;
    void (*take)(const uint8_t *data, size_t n);
} parts[] = {
    { "decimal", decimal }, { "packing", packing },   { "execution", execution }, { "rules", rules },
    { "options", options }, { "where", where },       { "result", result },       { "database", database },
    { "pftrace", pftrace }, { "metadata", metadata },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static size_t part = SIZE_MAX;
    const char *name = getenv("TLMPI_FUZZ");
    for (size_t i = 0; part == SIZE_MAX && i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(parts[i].name, name != NULL ? name : "") == 0)
            part = i;
    if (part == SIZE_MAX)
        fuzz_broken("TLMPI_FUZZ names no part");
    tl_log_enable(false);
    parts[part].take(data, n);
    return 0;
}
