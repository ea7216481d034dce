/* test_call_tree.c - the tree of calling contexts. */
#include "draw.h"
#include "tlmpi/analysis/rank/work.h"
#include "tlmpi/model/tree_table.h"
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tl_config config = { 0 };

static const tl_table *tree_of(const tl_rank_view *view, tl_tables *out)
{
    tl_tree_analysis.per_rank(view, &config, out);
    return tl_tables_get(out, &tl_call_tree_schema);
}

static const tl_call_tree *row_at(const tl_table *t, size_t i)
{
    return tl_table_row(t, i);
}

/* A line a node, indented by its depth: its name, how often, host_ns and host_self_ns, device_ns and device_self_ns in us,
 * and a kind that is none of a name on the drawing. */
static void check_tree(drawing *d, const char *expected)
{
    const tl_table *t = tree_of(&d->view, &d->out);
    char told[4096] = "";
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++) {
        const tl_call_tree *r = row_at(t, i);
        tl_text name = tl_names_text(&d->names, r->name);
        CU_ASSERT_EQUAL(r->node, (int32_t)i);
        CU_ASSERT_TRUE(r->parent < r->node);
        CU_ASSERT_EQUAL(r->depth, r->parent < 0 ? 0 : row_at(t, (size_t)r->parent)->depth + 1);
        n += (size_t)snprintf(told + n, sizeof told - n, "%*s%s%.*s x%d h%d/%d d%d/%d\n", r->depth, "",
                              r->kind == TL_TREE_NONE ? "none" : "", (int)name.n, name.p, (int)r->count,
                              (int)(r->host_ns / US), (int)(r->host_self_ns / US), (int)(r->device_ns / US),
                              (int)(r->device_self_ns / US));
    }
    if (strcmp(told, expected) != 0)
        printf("\n%s", told);
    CU_ASSERT_STRING_EQUAL(told, expected);
    drawing_free(d);
}

static void operators_calls_and_work_are_below_what_called_them(void)
{
    check_tree(draw("mark 1 forward: ===================.......",
                    "op 1 linear:    .=======..=======.........",
                    "op 1 addmm:     ..=====....====...........",
                    "launch 1 go:    ...aa..b....c.............",
                    "compute 7 gemm: ....AAAA.....CC...........",
                    "compute 7 add:  .........BB...............", NULL),
               "forward x1 h19/5 d8/0\n"
               " linear x2 h14/4 d8/2\n"
               "  addmm x2 h9/6 d6/6\n"
               "   go x2 h3/3 d6/0\n"
               "    gemm x2 h0/0 d6/0\n"
               "  go x1 h1/1 d2/0\n"
               "   add x1 h0/0 d2/0\n");
}

/* Another path is another node, whatever it ends with; of one name an annotation is another than an operator. */
static void the_same_operator_has_a_node_on_each_path(void)
{
    check_tree(draw("op 1 f:       ==========....=====.....",
                    "op 1 g:       .====..........==..==...",
                    "mark 1 g:     ......===...............",
                    "launch 1 l:   ..a....b.......c...d....",
                    "compute 7 k:  ...A....BB......CCC.DDDD", NULL),
               "f x2 h15/6 d6/0\n"
               " g x2 h6/4 d4/4\n"
               "  l x2 h2/2 d4/0\n"
               "   k x2 h0/0 d4/0\n"
               " g x1 h3/2 d2/2\n" /* the annotation */
               "  l x1 h1/1 d2/0\n"
               "   k x1 h0/0 d2/0\n"
               "g x1 h2/1 d4/4\n"
               " l x1 h1/1 d4/0\n"
               "  k x1 h0/0 d4/0\n");
}

/* Threads of autograd have no annotations: what is open on the main thread is around what they do, and a launch on a
 * thread without operators, too.  Marks of steps and Python's functions are no nodes. */
static void what_other_threads_do_is_in_the_main_threads_annotation(void)
{
    check_tree(draw("mark 1 ProfilerStep#3: ========================",
                    "frame 1 train:         .======================.",
                    "mark 1 backward:       .=============..........",
                    "mark 1 clip:           .......===..............",
                    "op 2 mm:               ...==...==.....==.......",
                    "launch 2 l:            ...a.....b.....c........",
                    "launch 3 m:            ...........d......e.....",
                    "compute 7 k:           ....A.....BB....CCCDEEEE", NULL),
               "backward x1 h13/10 d4/1\n" /* what thread 3 has launched in it */
               " clip x1 h3/3 d2/0\n"
               "  mm x1 h2/1 d2/2\n"
               "   l x1 h1/1 d2/0\n"
               "    k x1 h0/0 d2/0\n"
               " mm x1 h2/1 d1/1\n"
               "  l x1 h1/1 d1/0\n"
               "   k x1 h0/0 d1/0\n"
               " m x1 h1/1 d1/0\n"
               "  k x1 h0/0 d1/0\n"
               "m x1 h1/1 d4/4\n"
               " k x1 h0/0 d4/0\n"
               "mm x1 h2/1 d3/3\n"
               " l x1 h1/1 d3/0\n"
               "  k x1 h0/0 d3/0\n");
}

/* A module is around what is called in it, also around launches outside of operators. */
static void modules_are_nodes(void)
{
    check_tree(draw("frame 1 nn.Module: M_0:  ==========....",
                    "frame 1 forward:         .========.....",
                    "frame 1 nn.Module: L_0:  ..=====.......",
                    "op 1 mm:                 ...==.........",
                    "launch 1 l:              ...a.b..c.....",
                    "compute 7 k:             ....A.BBCCC...", NULL),
               "nn.Module: M_0 x1 h10/4 d6/3\n"
               " nn.Module: L_0 x1 h5/2 d3/2\n"
               "  l x1 h1/1 d2/0\n"
               "   k x1 h0/0 d2/0\n"
               "  mm x1 h2/1 d1/1\n"
               "   l x1 h1/1 d1/0\n"
               "    k x1 h0/0 d1/0\n"
               " l x1 h1/1 d3/0\n"
               "  k x1 h0/0 d3/0\n");
}

/* Modules M > L, and N.  The kernel of L is exposed for 2 us before compute; then the kernel of N ends last. */
static void exposed_communication_is_of_the_module_that_launched_it(void)
{
    drawing *d = draw("frame 1 nn.Module: M: ======......",
                      "frame 1 nn.Module: L: .===........",
                      "frame 1 nn.Module: N: ......===...",
                      "launch 1 l:           ..a..b.c....",
                      "compute 7 k:          .....BB.....",
                      "comm 8:               ...AAAAA....",
                      "comm 9:               .......CCC..", NULL);
    const tl_table *t = tree_of(&d->view, &d->out);
    int64_t of[3] = { 0 };
    for (size_t i = 0; i < t->n; i++) {
        const tl_call_tree *r = row_at(t, i);
        if (r->kind == TL_TREE_MODULE)
            of[tl_names_text(&d->names, r->name).p[11] - 'L'] += r->comm_exposed_ns;
    }
    CU_ASSERT_EQUAL(of[0], 2 * US); /* L */
    CU_ASSERT_EQUAL(of[1], 2 * US); /* M, around L */
    CU_ASSERT_EQUAL(of[2], 3 * US); /* N, which ends last */
    drawing_free(d);
}

/* Three runs, the first of them before the first step. */
static void what_is_in_steps_is_told_beside_the_whole(void)
{
    drawing *d = draw("steps:       ....4444444455555555",
                      "op 1 f:      .==..==.....==......",
                      "launch 1 go: .a....b......c......",
                      "compute 7 k: ..A.....BB.....CCC..", NULL);
    const tl_table *t = tree_of(&d->view, &d->out);
    for (size_t i = 0; i < t->n; i++) {
        CU_ASSERT_EQUAL(row_at(t, i)->count, 3);
        CU_ASSERT_EQUAL(row_at(t, i)->steps_count, 2);
        CU_ASSERT_EQUAL(row_at(t, i)->steps_ns, 5 * US);
    }
    tl_operator_analysis.per_rank(&d->view, &config, &d->out);
    const tl_operator_row *f = tl_table_row(tl_tables_get(&d->out, &tl_operator_row_schema), 0);
    CU_ASSERT_EQUAL(f->count, 3);
    CU_ASSERT_EQUAL(f->steps_count, 2);
    CU_ASSERT_EQUAL(f->steps_ns, 4 * US);
    drawing_free(d);
}

static void work_without_a_launch_is_below_a_node_of_its_own(void)
{
    check_tree(draw("op 1 f:       .===.......",
                    "launch 1 l:   ..a....b...",
                    "compute 7 k:  ...A.CC.BBB",
                    "compute 8 z:  .D.........", NULL),
               "l x1 h1/1 d3/3\n"
               " k x1 h0/0 d3/0\n"
               "none x0 h0/0 d3/3\n"
               " k x1 h0/0 d2/0\n"
               " z x1 h0/0 d1/0\n"
               "f x1 h3/2 d1/1\n"
               " l x1 h1/1 d1/0\n"
               "  k x1 h0/0 d1/0\n");
}

/* Of those that begin at one instant the longer one is around the others, of equals the first of the trace; what takes no
 * time is in what begins with it, and not in what ends.  One that ends after what it began in takes of it what they share. */
static void ties_and_cuts_have_one_order(void)
{
    check_tree(draw("op 1 a: ===...........",
                    "op 1 b: ...====.......",
                    "op 1 z: ...|..........",
                    "op 1 c: ...==.........",
                    "op 1 d: ........====..",
                    "op 1 e: ........====..",
                    "op 1 f: ..........====", NULL),
               "b x1 h4/2 d0/0\n"
               " c x1 h2/2 d0/0\n"
               "  z x1 h0/0 d0/0\n"
               "d x1 h4/0 d0/0\n"
               " e x1 h4/2 d0/0\n"
               "  f x1 h4/4 d0/0\n"
               "a x1 h3/3 d0/0\n");
}

/* The sums of a graph with many kernels, and a launch of nothing. */
static void a_graph_is_one_launch_of_many(void)
{
    drawing *d = draw("op 1 replay:  .=====......",
                      "launch 1 go:  ..a..q......",
                      "compute 7 k:  ....AA.AAA..",
                      "compute 8 z:  .....A......", NULL);
    const tl_table *t = tree_of(&d->view, &d->out);
    CU_ASSERT_EQUAL_FATAL(t->n, 4);
    CU_ASSERT_EQUAL(row_at(t, 0)->launches, 1);
    CU_ASSERT_EQUAL(row_at(t, 0)->kernels, 3);
    CU_ASSERT_EQUAL(row_at(t, 1)->count, 1);
    CU_ASSERT_EQUAL(row_at(t, 2)->count, 2);
    CU_ASSERT_EQUAL(row_at(t, 2)->launches, 0);
    CU_ASSERT_EQUAL(row_at(t, 2)->device_ns, 5 * US);
    CU_ASSERT_DOUBLE_EQUAL(row_at(t, 2)->share, 5.0 / 6, 1e-12);
    drawing_free(d);
}

static uint32_t op_named(const drawing *d, const char *name, size_t nth)
{
    for (uint32_t i = 0; i < d->view.ops.n; i++)
        if (tl_text_is(tl_names_text(&d->names, d->view.ops.name[i]), name) && nth-- == 0)
            return i;
    abort();
}

/* The thread of the backward pass stands before that of the forward pass, and is taken after it.  Gradients of two nodes
 * are two. */
static void the_backward_pass_names_its_forward_operators(void)
{
    drawing *d = draw("op 1 AddB:  .........==.==.==",
                      "op 2 x:     .===.............",
                      "op 2 add:   ..=..=...........", NULL);
    const tl_backward pairs[] = { { op_named(d, "AddB", 0), op_named(d, "add", 1) },
                                  { op_named(d, "AddB", 1), op_named(d, "add", 0) } };
    d->view.backwards = pairs;
    d->view.nbackwards = 2;
    const tl_table *t = tree_of(&d->view, &d->out);
    CU_ASSERT_EQUAL_FATAL(t->n, 6); /* x, x > add, 3 of AddB, add */
    size_t found = 0;
    for (size_t i = 0; i < t->n; i++) {
        const tl_call_tree *r = row_at(t, i);
        if (!tl_text_is(tl_names_text(&d->names, r->name), "AddB") || r->forward < 0) {
            CU_ASSERT_EQUAL(r->forward, -1);
            continue;
        }
        const tl_call_tree *of = row_at(t, (size_t)r->forward);
        CU_ASSERT_TRUE(tl_text_is(tl_names_text(&d->names, of->name), "add"));
        found += of->depth == 1 ? 1 : 10;
    }
    CU_ASSERT_EQUAL(found, 11);
    drawing_free(d);
}

/* ------------------------------------------------------------------------------------------ more paths than rows */

enum { MANY = 3000, KEPT = 4096 };

/* MANY operators of as many names, one after the other, each with a launch of one kernel; the later, the longer. */
typedef struct many {
    tl_rank_view view;
    tl_names names;
    int64_t start_ns[MANY], dur_ns[MANY];
    uint32_t name[MANY], uid[MANY];
    uint8_t kind[MANY];
    tl_thread thread;
    tl_launch launches[MANY];
    tl_kernel kernels[MANY];
} many;

static many *many_paths(void)
{
    many *m = calloc(1, sizeof *m);
    char name[16];
    if (m == NULL)
        abort();
    for (uint32_t i = 0; i < MANY; i++) {
        int n = snprintf(name, sizeof name, "op%u", i);
        m->start_ns[i] = 10 * US * i;
        m->dur_ns[i] = 8 * US;
        m->uid[i] = i;
        m->name[i] = tl_names_intern(&m->names, name, (size_t)n);
        m->launches[i] = (tl_launch){ m->start_ns[i] + US, m->start_ns[i] + 2 * US, m->name[0], i, 0, 1, i, TL_NONE, m->name[i], TL_NO_NAME };
        m->kernels[i] = (tl_kernel){ .start_ns = m->start_ns[i] + 3 * US, .end_ns = m->start_ns[i] + 3 * US + 1 + i, .name = m->name[0], .launch = i };
    }
    m->thread = (tl_thread){ 0, 0, MANY };
    m->view = (tl_rank_view){ .names = &m->names, .kernels = m->kernels, .nkernels = MANY, .launches = m->launches, .nlaunches = MANY };
    m->view.ops = (tl_ops){ m->start_ns, m->dur_ns, m->name, m->uid, m->kind, MANY, &m->thread, 1 };
    return m;
}

static void of_too_many_paths_those_with_most_device_time_have_rows(void)
{
    many *m = many_paths();
    tl_tables out;
    const tl_schema *schemas[] = { &tl_call_tree_schema };
    tl_tables_init(&out, schemas, 1);
    out.names = &m->names;
    const tl_table *t = tree_of(&m->view, &out);
    CU_ASSERT_EQUAL_FATAL(t->n, KEPT + 1);
    int64_t self = 0, work = 0, kernels = 0, launches = 0, host_self = 0;
    for (size_t i = 0; i < t->n; i++) {
        const tl_call_tree *r = row_at(t, i);
        CU_ASSERT_EQUAL(r->node, (int32_t)i);
        self += r->device_self_ns;
        host_self += r->host_self_ns;
        if (i == KEPT || r->kind == TL_TREE_WORK)
            kernels += r->kernels, work += r->device_ns;
        if (i == KEPT || r->kind == TL_TREE_CALL)
            launches += r->launches;
        CU_ASSERT_TRUE_FATAL(r->parent < r->node); /* whose parent has a row, too */
    }
    const tl_call_tree *rest = row_at(t, KEPT);
    CU_ASSERT_EQUAL(rest->kind, TL_TREE_REST);
    CU_ASSERT_EQUAL(rest->parent, -1);
    CU_ASSERT_EQUAL(rest->count, 3 * MANY - KEPT);
    CU_ASSERT_EQUAL(self, (int64_t)MANY * (MANY + 1) / 2);
    CU_ASSERT_EQUAL(work, self);
    CU_ASSERT_EQUAL(host_self, MANY * 8 * US);
    CU_ASSERT_EQUAL(kernels, MANY);
    CU_ASSERT_EQUAL(launches, MANY);
    CU_ASSERT_EQUAL(row_at(t, 0)->device_ns, MANY);
    CU_ASSERT(rest->device_ns > rest->device_self_ns); /* of one operator that has a row, the work has none */
    CU_ASSERT_EQUAL(rest->host_ns, rest->host_self_ns);
    CU_ASSERT_EQUAL(rest->depth, -1);
    tl_tables_free(&out);
    tl_names_free(&m->names);
    free(m);
}

int main(void)
{
    static const unit_test tests[] = {
        TEST(operators_calls_and_work_are_below_what_called_them),
        TEST(the_same_operator_has_a_node_on_each_path),
        TEST(what_other_threads_do_is_in_the_main_threads_annotation),
        TEST(modules_are_nodes),
        TEST(exposed_communication_is_of_the_module_that_launched_it),
        TEST(what_is_in_steps_is_told_beside_the_whole),
    TEST(work_without_a_launch_is_below_a_node_of_its_own),
        TEST(ties_and_cuts_have_one_order),
        TEST(a_graph_is_one_launch_of_many),
        TEST(the_backward_pass_names_its_forward_operators),
        TEST(of_too_many_paths_those_with_most_device_time_have_rows),
    };
    return unit_main("tree", tests, COUNT(tests));
}
