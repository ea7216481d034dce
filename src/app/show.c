/* show.c - tlmpi show: the tables of a result file. */
#include "cli.h"
#include "select.h"
#include "tlmpi/analysis/registry.h"
#include "tlmpi/base/group.h"
#include "tlmpi/base/log.h"
#include "tlmpi/base/mem.h"
#include "tlmpi/base/sort.h"
#include "tlmpi/base/stats.h"
#include "tlmpi/job/run.h"
#include "tlmpi/model/table.h"
#include "tlmpi/report/answers/tell.h"
#include "tlmpi/report/format/print.h"
#include "tlmpi/report/format/words.h"
#include "tlmpi/store/result.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------- the rows that are left out */

/* One row for all the kernels that a shortened list leaves out.
 *
 *     place  kind     count  total_ns  mean_ns  share  ...  name
 *         1  compute     20      4000      200    0.5       gemm
 *         -  -          340      1800      5.3    0.2       (12 others)
 *
 * Counts, times and shares are sums, the mean is total_ns / count; the row has no other value.  Shares are of the time
 * of one rank: rows of several ranks have none together.  No kernel's name begins with "(", a number and a word. */
typedef struct others {
    int64_t rows; /* number of rows left out; their sums: */
    int64_t count, total_ns;
    double share; /* NaN: of several ranks */
    int64_t rank; /* of the last row */
} others;

/* Returns a cell of the row; zero if the table lacks the column. */
static tl_content cell_of(const tl_schema *table, const char *column, const unsigned char *row)
{
    const tl_field *f = tl_schema_field(table, column);
    return f != NULL ? tl_content_of(f, row) : (tl_content){ .d = 0 };
}

static void add_other(others *o, const tl_schema *table, const unsigned char *row)
{
    const int64_t rank = cell_of(table, "rank", row).i;
    o->share += o->rows > 0 && rank != o->rank ? NAN : cell_of(table, "share", row).d;
    o->rank = rank;
    o->count += cell_of(table, "count", row).i;
    o->total_ns = tl_ns_add(o->total_ns, cell_of(table, "total_ns", row).i);
    o->rows++;
}

static tl_text words_of(void *words, uint32_t id)
{
    (void)id;
    return (tl_text){ words, strlen(words) };
}

static void print_others(const others *o, tl_printer *printer)
{
    const tl_schema *table = printer->schema;
    const double mean_ns = o->count > 0 ? (double)o->total_ns / (double)o->count : NAN;
    const struct {
        const char *column;
        const void *value;
        size_t size;
    } cells[] = { { "count", &o->count, sizeof o->count },
                  { "total_ns", &o->total_ns, sizeof o->total_ns },
                  { "mean_ns", &mean_ns, sizeof mean_ns },
                  { "share", &o->share, sizeof o->share },
                  { "name", "", 0 } /* words_of has the text */ };
    if (o->rows == 0)
        return;
    unsigned char *row = tl_calloc(1, table->row_size);
    bool *blank = tl_malloc(table->nfields * sizeof *blank);
    memset(blank, true, table->nfields);
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        const tl_field *f = tl_schema_field(table, cells[i].column);
        memcpy(row + f->offset, cells[i].value, cells[i].size);
        blank[f - table->fields] = false;
    }
    char words[48];
    snprintf(words, sizeof words, "(%" PRId64 " other%s)", o->rows, o->rows > 1 ? "s" : "");
    tl_printer other = *printer;
    other.name = words_of;
    other.name_arg = words;
    other.blank = blank;
    tl_print_rows(&other, row, 1);
    printer->any = true;
    free(row);
    free(blank);
}

/* Most rows that are sorted without --top. */
#define MOST_SORTED ((size_t)1 << 20)

enum { TERMINAL_TEXT_WIDTH = 48 };

#define LISTING_FIELDS(F, T)                                                                                           \
    F(T, TEXT64, about, LABEL, "", "what it is about")                                                                 \
    F(T, TEXT64, table, KEY, "", "name")                                                                               \
    F(T, I64, rows, MEASURE, "", "number of rows")                                                                     \
    F(T, TEXT128, title, LABEL, "", "what it holds")
TL_TABLE(listing, LISTING_FIELDS);
TL_TABLE_DEFINE(listing, LISTING_FIELDS, TL_SCOPE_JOB, "tables", "which tables does the file hold?");

static tl_text name_of(void *result, uint32_t id)
{
    return tl_result_name(result, id);
}

tl_printer tl_cli_printer(const tl_cli *cli, FILE *out)
{
    const bool terminal = tl_is_terminal(out), table = cli->format == TL_FORMAT_TABLE;
    const int unit = cli->unit >= 0 ? cli->unit : terminal ? TL_UNIT_AUTO : TL_UNIT_NS;
    return (tl_printer){ .out = out,
                         .format = (tl_format)cli->format,
                         .unit = unit == TL_UNIT_AUTO && !table ? TL_UNIT_NS : (tl_unit_choice)unit,
                         .text_width = cli->width >= 0 ? (size_t)cli->width
                                       : terminal      ? TERMINAL_TEXT_WIDTH
                                                       : 0 };
}

/* ---- the list of tables ---- */

/* Prints which part of the traces (--steps, --time) the tables cover. */
static tl_status say_selection(tl_result *result, FILE *out, tl_error *err)
{
    char *selection = NULL, *notes = NULL;
    tl_status st = tl_result_attr_text(result, "selection", &selection, err);
    if (st == TL_OK)
        st = tl_result_attr_text(result, "selection_notes", &notes, err);
    if (st == TL_OK && selection != NULL) {
        const tl_answers answers = { .selection = selection, .notes = notes };
        tl_wrap w = { .out = out, .indent = 2 };
        fputc('\n', out);
        tl_say_selection(&w, &answers);
        tl_wrap_end(&w);
    }
    free(selection);
    free(notes);
    return st;
}

/* Order: as in the registry, an index after its table. */
static int by_registry_order(const void *a, const void *b)
{
    const tl_schema *const *x = a, *const *y = b;
    size_t place_x, place_y;
    tl_table_about((*x)->name, &place_x);
    tl_table_about((*y)->name, &place_y);
    return place_x != place_y ? TL_COMPARE(place_x, place_y) : strcmp((*x)->name, (*y)->name);
}

static tl_status list_tables(const tl_cli *cli, tl_result *result, FILE *out, tl_error *err)
{
    tl_printer printer = tl_cli_printer(cli, out);
    size_t n = tl_result_ntables(result);
    const tl_schema **tables = tl_calloc(n + 1, sizeof *tables);
    for (size_t i = 0; i < n; i++)
        tables[i] = tl_result_table(result, i);
    qsort(tables, n, sizeof *tables, by_registry_order);

    printer.schema = &tl_listing_schema;
    tl_print_begin(&printer);
    for (size_t i = 0; i < n; i++) {
        size_t place;
        const char *about = tl_table_about(tables[i]->name, &place);
        tl_listing row = { .rows = (int64_t)tl_result_nrows(result, tables[i]) };
        tl_cell_text(row.about, sizeof row.about, about, strlen(about));
        tl_cell_text(row.table, sizeof row.table, tables[i]->name, strlen(tables[i]->name));
        tl_cell_text(row.title, sizeof row.title, tables[i]->title, strlen(tables[i]->title));
        tl_print_rows(&printer, &row, 1);
    }
    tl_print_end(&printer);
    free(tables);
    return cli->format == TL_FORMAT_TABLE ? say_selection(result, out, err) : TL_OK;
}

/* ---- rows ---- */

/* A table being printed.  Rows in the order of a column are collected, and sorted and cut to the limit whenever there
 * are twice as many: at most the larger of 2 N and 1,024 rows are kept in memory. */
typedef struct show {
    const tl_select *select; /* table, sort column and direction */
    tl_printer printer;
    uint64_t limit, printed; /* limit 0: none */
    double share;            /* --top P%; 0: none */
    unsigned char *rows;     /* the sorted rows: n, of `most` */
    size_t n, cap, most;
    bool sums; /* rows that are not printed are summed in one row: */
    others others;
} show;

static const unsigned char *row_of(const show *s, size_t i)
{
    return s->rows + i * s->select->table->row_size;
}

/* Returns a number below 0 if row a comes before row b; rows without a value come last in both directions. */
static int compare(const void *context, uint32_t a, uint32_t b)
{
    const show *s = context;
    const tl_field *by = s->select->sort;
    const tl_content x = tl_content_of(by, row_of(s, a)), y = tl_content_of(by, row_of(s, b));
    int order;

    if (x.none || y.none)
        return TL_COMPARE(x.none, y.none);
    if (by->type == TL_TYPE_F64)
        order = TL_COMPARE(x.d, y.d);
    else if (by->type == TL_TYPE_TEXT)
        order = tl_text_compare(x.text, y.text);
    else if (by->type == TL_TYPE_NAME && x.i != y.i)
        order = tl_text_compare(tl_result_name(s->select->result, (uint32_t)x.i),
                                tl_result_name(s->select->result, (uint32_t)y.i));
    else
        order = TL_COMPARE(x.i, y.i);
    return s->select->descending ? -order : order;
}

static void leave_out(show *s, const unsigned char *row)
{
    if (s->sums)
        add_other(&s->others, s->printer.schema, row);
}

/* Sorts the rows, and leaves out those behind the first `most`. */
static void sort_rows(show *s)
{
    const size_t size = s->select->table->row_size;
    uint32_t *index = tl_sorted_index(s->n, compare, s);
    unsigned char *sorted = tl_malloc(s->n * size + 1);
    for (size_t i = 0; i < s->n; i++)
        memcpy(sorted + i * size, row_of(s, index[i]), size);
    for (size_t i = s->most; i < s->n; i++)
        leave_out(s, sorted + i * size);
    free(index);
    free(s->rows);
    s->rows = sorted;
    s->cap = s->n;
    s->n = s->n < s->most ? s->n : s->most;
}

/* Returns whether the rows that are not printed are summed in one row: in lists of kernels with the column name, which
 * labels that row. */
static bool has_others(const tl_printer *p)
{
    bool named = p->columns == NULL;
    for (size_t i = 0; p->columns != NULL && i < p->ncolumns; i++)
        named |= strcmp(p->schema->fields[p->columns[i]].name, "name") == 0;
    return named && (strcmp(p->schema->name, "kernel") == 0 || strcmp(p->schema->name, "kernel_ranks") == 0);
}

static tl_status print_row(void *arg, const unsigned char *row, bool *enough, tl_error *err)
{
    show *s = arg;
    (void)err;
    if (s->limit > 0 && s->printed == s->limit) {
        leave_out(s, row);
    } else {
        tl_print_rows(&s->printer, row, 1);
        s->printed++;
    }
    *enough = ferror(s->printer.out) || (s->printed == s->limit && !s->sums);
    return TL_OK;
}

static tl_status keep_row(void *arg, const unsigned char *row, bool *enough, tl_error *err)
{
    enum { LEAST_KEPT = 1024 }; /* the fewest rows that are sorted at a time */
    show *s = arg;
    const size_t size = s->select->table->row_size;
    (void)enough;
    if (s->limit == 0 && s->n == s->most)
        return tl_fail(err, TL_EUSAGE, "--sort of more than %zu rows: say with --top how many of them to print",
                       s->most);
    if (s->n >= LEAST_KEPT && s->n / 2 >= s->most)
        sort_rows(s);
    tl_grow((void **)&s->rows, &s->cap, s->n + 1, size);
    memcpy(s->rows + s->n++ * size, row, size);
    return TL_OK;
}

/* Returns the number of rows, from the first, that hold the share of the column's sum over all rows; 0 if the sum is
 * 0. */
static size_t rows_of_share(const show *s)
{
    const tl_field *time = s->select->time;
    int64_t all = 0, held = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        all = tl_ns_add(all, tl_ns_max(tl_content_of(time, row_of(s, i)).i, 0));
    while (n < s->n && (double)held < s->share * (double)all)
        held = tl_ns_add(held, tl_ns_max(tl_content_of(time, row_of(s, n++)).i, 0));
    return n;
}

static tl_status print_sorted(show *s, tl_select *select, tl_error *err)
{
    s->most = s->limit == 0 ? MOST_SORTED : s->limit < SIZE_MAX ? (size_t)s->limit : SIZE_MAX;
    tl_status st = tl_select_walk(select, keep_row, s, err);
    if (st == TL_OK) {
        sort_rows(s);
        s->printed = s->share > 0 ? rows_of_share(s) : s->n;
        for (size_t i = 0; i < s->n; i++)
            if (i < s->printed)
                tl_print_rows(&s->printer, row_of(s, i), 1);
            else
                leave_out(s, row_of(s, i));
    }
    free(s->rows);
    return st;
}

/* Warns why no row was printed: the table is empty, as not every trace has rows for it, or none is selected. */
static void say_why_none(const tl_select *select)
{
    const tl_schema *table = select->table, *files = tl_result_find(select->result, "side_file");
    const char *const *reason = tl_manual_find("empty", table->name);
    char ranks[200] = "", steps[200] = "";
    if (tl_result_nrows(select->result, table) > 0) {
        if (select->rank != NULL)
            tl_ranges_text(select->ranks, ranks, sizeof ranks);
        if (select->step != NULL)
            tl_ranges_text(select->steps, steps, sizeof steps);
        tl_warn("no row of table %s%s%s%s%s%s", table->name, select->rank != NULL ? " of rank " : "", ranks,
                select->step != NULL ? " of step " : "", steps, select->where.n > 0 ? " fulfils --where" : "");
        return;
    }
    if (reason != NULL)
        tl_warn("table %s has no rows: %s", table->name, *reason);
    if (strncmp(table->name, "phase", 5) == 0 && (files == NULL || tl_result_nrows(select->result, files) == 0))
        tl_warn("table %s has no rows: not available: no files of phases (.jsonl, as libtlmpi_record writes them)",
                table->name);
}

static tl_status show_table(const tl_cli *cli, tl_result *result, const char *table, FILE *out, tl_error *err)
{
    tl_select select;
    tl_status st = tl_select_init(&select, result, table, cli, err);
    if (st == TL_OK) {
        show s = { .select = &select,
                   .printer = tl_cli_printer(cli, out),
                   .limit = (uint64_t)cli->top.rows,
                   .share = cli->top.share };
        s.printer.schema = select.table;
        s.printer.columns = select.columns.n > 0 ? select.columns.v : NULL;
        s.printer.ncolumns = select.columns.n;
        s.printer.name = name_of;
        s.printer.name_arg = result;
        s.sums = (s.limit > 0 || s.share > 0) && has_others(&s.printer);
        tl_print_begin(&s.printer);
        st = select.sort != NULL ? print_sorted(&s, &select, err) : tl_select_walk(&select, print_row, &s, err);
        if (st == TL_OK)
            print_others(&s.others, &s.printer);
        tl_print_end(&s.printer);
        if (st == TL_OK && s.printed == 0 && !ferror(out)) /* a failed write is reported when the stream is closed */
            say_why_none(&select);
    }
    tl_select_free(&select);
    return st;
}

/* ---- the command ---- */

static tl_status check_words(const tl_cli *cli, tl_error *err)
{
    bool choosy = cli->columns != NULL || cli->sort != NULL || cli->top.rows > 0 || cli->top.share > 0 ||
                  cli->ranks.n > 0 || cli->steps.n > 0 || cli->where.n > 0;
    if (cli->nwords == 0)
        return tl_fail(err, TL_EUSAGE, "no result file named: tlmpi show FILE.h5 [TABLE]");
    if (cli->nwords > 2)
        return tl_fail(err, TL_EUSAGE, "one table at a time, not also '%s'", cli->words[2]);
    if (cli->run.digest && cli->nwords > 1)
        return tl_fail(err, TL_EUSAGE, "--digest is over all tables");
    if (choosy && (cli->nwords == 1 || cli->run.digest))
        return tl_fail(err, TL_EUSAGE,
                       "--columns, --rank, --step, --where, --sort and --top want a table: tlmpi show %s TABLE",
                       cli->words[0]);
    return TL_OK;
}

/* Opens $PAGER, or else less, which ends at once where all fits; NULL: the output is not for a terminal.  pclose ends
 * it. */
static FILE *open_pager(const char *output)
{
    const char *term = getenv("TERM");
    if (output != NULL || !tl_is_terminal(stdout) || term == NULL || strcmp(term, "dumb") == 0)
        return NULL;
    return popen("p=${PAGER:-less}; command -v ${p%% *} > /dev/null || p=cat; LESS=${LESS:-FRSX} exec $p", "w");
}

static tl_status show_file(const tl_cli *cli, tl_error *err)
{
    tl_result *result = NULL;
    tl_outfile file = { .out = NULL };
    tl_cli on = *cli; /* with unit and width as for the terminal, also where a pager is between */
    tl_status st = check_words(cli, err);
    if (st == TL_OK)
        st = tl_result_open(cli->words[0], &result, err);
    if (st == TL_OK)
        st = tl_outfile_open(&file, cli->words[0], cli->run.output, cli->run.force, err);
    if (st == TL_OK) {
        FILE *pager = open_pager(cli->run.output), *out = pager != NULL ? pager : file.out;
        const tl_printer as = tl_cli_printer(cli, file.out);
        on.unit = (int)as.unit;
        on.width = (int64_t)as.text_width;
        if (cli->run.digest)
            st = tl_print_digests(out, result, err);
        else if (cli->nwords == 1)
            st = list_tables(&on, result, out, err);
        else
            st = show_table(&on, result, cli->words[1], out, err);
        if (pager != NULL)
            (void)pclose(pager);
        st = tl_outfile_close(&file, st, err);
    }
    tl_result_close(result);
    return st;
}

int tl_show(const tl_cli *cli)
{
    tl_error err;
    return show_file(cli, &err) == TL_OK ? 0 : tl_cli_complain(cli, &err);
}
