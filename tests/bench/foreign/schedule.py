"""schedule.py - what each rank of a training job does, step by step: programs of Op for the engine.

A job is a transformer on dp x tp x pp ranks, rank = (stage * dp + replica) * tp + shard.  By `kind` of parallelism:

    dp     a replica on each rank; gradients are all-reduced in buckets on a stream of their own, beside the backward pass
    fsdp   parameters are all-gathered a layer ahead, gradients reduce-scattered a layer behind, on streams of their own
    tp     two all-reduces a layer and direction, which the next kernel waits for
    pp     stages pass activations on and gradients back, one forward one backward (1F1B); batched, both ways in one kernel, or
           a stream for each way
    ep     experts: two all-to-alls a layer and direction; what an expert has to do is drawn anew every time

The host enters a frame for each operator, calls the runtime in it, and leaves it; the backward pass runs in another thread
while the main one waits.  Where hosts wait for devices is drawn for the job: loss.item(), the norm of the gradients, data
copied in order, or nowhere.

Kernels of matrix products may differ by rank in their tiles, and so in names and grids, and may come in pieces, as many by
chance; together they take as long.  A grid has a block for so much work; that of attention grows with the length, and its time with the
square.

Durations are drawn while the program is written: lognormal about the nominal, now and then longer (`Noise`).  Sequence
lengths may differ, by step, microbatch and replica; ranks that work on the same data share them.
"""

import random

from engine import Op
from job import US


TILES = {"128x128": 1.0, "256x128": 0.5, "256x64": 1.0}
BLOCK_NS = 1500           # of work for a block of a kernel


class Program:
    """The ops of one rank, in the making."""

    def __init__(self, job, rank):
        self.job, self.rank, self.ops, self.step, self.length, self.serial = job, rank, [], 0, 1.0, 0
        self.rng = random.Random("%d rank %d" % (job.seed, rank))
        self.speed = 1 + self.rng.gauss(0, job.noise.static)
        self.host_speed = 1 + abs(self.rng.gauss(0, job.noise.host_static))
        self.step_speed = 1.0
        self.stage, self.replica, self.shard = job.place(rank)
        self.main, self.thread = "compute", "main"
        self.habits = random.Random("%d habits of %d" % (job.seed, rank))
        self.tiles = [self.habits.choice(sorted(TILES)) if job.tuned else "128x128" for _ in range(2)]

    def add(self, do, name="", ns=0, **more):
        self.ops.append(Op(do, self.step, name, int(ns), **more))

    # What lasts

    def kernel_ns(self, ns):
        noise, rng = self.job.noise, self.rng
        ns *= self.speed * self.step_speed * rng.lognormvariate(0, noise.kernel)
        return ns + (min(ns * rng.paretovariate(1.5), self.job.most_ns) if rng.random() < noise.kernel_tail else 0)

    def host_ns(self, ns):
        noise, rng = self.job.noise, self.rng
        ns *= self.host_speed * rng.lognormvariate(0, noise.call)
        return ns + (min(noise.tail_ns * rng.paretovariate(1.3), self.job.most_ns) if rng.random() < noise.call_tail else 0)

    def call_ns(self, ns=None):
        return max(800, int(self.host_ns(ns or self.job.call_ns)))

    # What it is made of

    def frame(self, name, kind="cpu_op", before=None):
        self.add("open", name, self.host_ns(self.job.op_ns * 0.4 if before is None else before), kind=kind)

    def leave(self):
        self.add("close", ns=self.host_ns(1.5 * US))

    def function(self, name):
        """A Python frame, in jobs that record them; whether it did."""
        if self.job.frames:
            self.add("open", name, self.host_ns(1 * US), kind="python_function")
        return self.job.frames

    def op(self, name, *kernels):
        """An operator that launches kernels: (name, ns)."""
        self.frame(name)
        for kernel, nominal in kernels:
            blocks = nominal / BLOCK_NS / (self.length if "flash" in kernel else 1)
            blocks *= next((times for tile, times in TILES.items() if tile in kernel), 1.0)
            pieces = self.habits.randrange(1, 4) if self.job.split and "gemm" in kernel else 1
            ns = self.kernel_ns(nominal)
            for _ in range(pieces):
                self.add("launch", kernel, ns / pieces, call_ns=self.call_ns(), stream=self.main, kind="kernel",
                         args={"blocks": max(1, round(blocks / pieces))})
        self.add("close", ns=self.host_ns(self.job.op_ns * 0.6))

    def follow(self, stream, behind):
        """What comes on `stream` waits for what is now on `behind`."""
        self.serial += 1
        self.add("record", stream=behind, event=self.serial, call_ns=self.call_ns(1500))
        self.add("wait", stream=stream, event=self.serial, call_ns=self.call_ns(1200))

    def collective(self, what, group, stream, nelems, after=True):
        """after: the collective waits for what is on the main stream; the main one does not wait for it yet."""
        name = {"allreduce": "AllReduce_Sum_bf16_RING_LL", "_allgather_base": "AllGather_RING_LL", "all_to_allv": "SendRecv",
                "_reduce_scatter_base": "ReduceScatter_Sum_bf16_RING_LL"}[what]
        members = self.job.groups[group]
        if len(members) < 2:
            return
        self.frame("c10d::%s_" % what.strip("_"))
        self.frame("record_param_comms", before=2 * US)
        if after and stream != self.main:
            self.follow(stream, self.main)
        self.add("comm", "ncclDevKernel_%s(ncclDevKernelArgsStorage<4096ul>)" % name, stream=stream, group=group,
                 call_ns=self.call_ns(), args={"what": what, "nelems": int(nelems)})
        self.leave()
        self.leave()

    def exchange(self, way, stage, what):
        """A send, a receive or both, with the neighbour behind or ahead of `stage`; the main stream waits for it."""
        stream = "p2p " + way if way != "batch" else "p2p"
        group = ("pair", way, stage, self.replica, self.shard)
        peer = sum(self.job.groups[group]) - self.rank
        self.frame("c10d::" + what)
        self.follow(stream, self.main)
        self.add("comm", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", stream=stream, group=group,
                 call_ns=self.call_ns(), args={"what": what, "nelems": 1 << 20, "peer": peer})
        self.leave()
        if what != "send":
            self.follow(self.main, stream)

    # Parts of a step

    def load(self):
        job = self.job
        if job.loader:
            self.frame("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "user_annotation", 3 * US)
        inside = self.function("torch/utils/data/dataloader.py(626): __next__")
        self.add("work", "", self.host_ns(job.load_ns * 0.1), kind="input")
        if inside:
            self.leave()
        if job.loader:
            self.leave()
        self.frame("aten::to")
        self.frame("aten::copy_")
        self.add("launch", "Memcpy HtoD (Pinned -> Device)" if job.pinned else "Memcpy HtoD (Pageable -> Device)",
                 self.kernel_ns(job.load_ns * 0.02 + 5 * US), call_ns=self.call_ns(), stream=self.main, kind="gpu_memcpy")
        if not job.pinned:
            self.add("sync", "cudaStreamSynchronize", stream=self.main, call_ns=self.call_ns(1500))
        self.leave()
        self.leave()

    def block(self, back, load=1.0):
        """The kernels of half a layer, which is attention or the perceptron; twice as much work backwards."""
        gemm, point, long = self.job.gemm_ns / self.job.tp, self.job.point_ns, self.length
        times, end = (2, "Backward0") if back else (1, "")
        mm = "ampere_bf16_s16816gemm_bf16_%s_ldg8_f2f_stages_32x5_%s" % (self.tiles[back], "nt" if back else "tn")
        point_name = "void at::native::vectorized_elementwise_kernel<4, at::native::%s%s>" % ("gelu", end)
        if load is None:
            self.op("aten::native_layer_norm" + end, ("void at::native::vectorized_layer_norm_kernel<c10::BFloat16, float>", point * long))
            self.op("aten::linear" + end, *[(mm, 1.5 * gemm * long)] * times)
            self.op("aten::_flash_attention" + ("_backward" if back else "_forward"),
                    ("flash_%s_kernel<Flash_%s_traits>" % (("bwd", "bwd") if back else ("fwd", "fwd")), times * gemm * long * long))
            self.op("aten::linear" + end, *[(mm, 0.5 * gemm * long)] * times)
        else:
            self.op("aten::linear" + end, *[(mm, 2 * gemm * long * load)] * times)
            self.op("aten::gelu" + end, (point_name, point * long * load))
            self.op("aten::linear" + end, *[(mm, 2 * gemm * long * load)] * times)
            self.op("aten::add", ("void at::native::elementwise_kernel<128, 4, add>", point * long))

    def shards(self):
        """The all-reduce of a tensor-parallel layer, which what comes next waits for."""
        if self.job.tp > 1:
            stream = "tp" if self.job.own_stream else self.main
            self.collective("allreduce", ("tp", self.stage, self.replica), stream, 1 << 21)
            if stream != self.main:
                self.follow(self.main, stream)

    def experts(self):
        if self.job.kind == "ep":
            self.collective("all_to_allv", ("dp", self.stage, self.shard), "ep", 1 << 20)
            self.follow(self.main, "ep")

    def layer(self, back):
        load = max(0.3, self.rng.gauss(1, 0.08)) if self.job.kind == "ep" else 1.0
        halves = [lambda: self.block(back, None),
                  lambda: (self.experts(), self.block(back, load), self.experts())]
        for half in reversed(halves) if back else halves:
            half()
            self.shards()

    def gather(self, layer, ahead):
        """FSDP: the parameters of a layer; not before what is `ahead` computing has begun."""
        self.collective("_allgather_base", ("dp", self.stage, self.shard), "gather", 1 << 22, after=ahead)
        self.serial += 1
        self.add("record", stream="gather", event=("parameters", layer), call_ns=self.call_ns(1500))

    def forward(self):
        job, shard = self.job, self.job.kind == "fsdp"
        inside = self.function("model.py(88): forward")
        if self.stage == 0:
            self.op("aten::embedding", ("void at::native::indexSelectLargeIndex", job.point_ns * self.length))
        if shard:
            self.gather(0, False)
        for layer in range(job.layers):
            named = self.function("nn.Module: TransformerLayer_%d" % layer)
            if shard:
                if layer + 1 < job.layers:
                    self.gather(layer + 1, True)
                self.add("wait", stream=self.main, event=("parameters", layer), call_ns=self.call_ns(1200))
            self.layer(False)
            if named:
                self.leave()
        if self.stage == job.pp - 1:
            self.op("aten::linear", ("ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn", 2 * job.gemm_ns * self.length))
            self.op("aten::cross_entropy_loss", ("void cunn_SoftMaxForward", job.point_ns), ("nll_loss_forward", 0.3 * job.point_ns))
        if inside:
            self.leave()

    def backward(self, last):
        """last: of its step, so that gradients are complete."""
        job, group = self.job, ("dp", self.stage, self.shard)
        inside = self.function("torch/_tensor.py(570): backward")
        self.add("thread", "autograd", self.host_ns(15 * US))
        if self.stage == job.pp - 1:
            self.op("autograd::engine::evaluate_function: NllLossBackward0", ("void cunn_SoftMaxBackward", job.point_ns))
        if job.kind == "fsdp":
            self.gather(job.layers - 1, True)
        for layer in reversed(range(job.layers)):
            self.frame("autograd::engine::evaluate_function: LayerBackward", before=4 * US)
            if job.kind == "fsdp":
                if layer > 0:
                    self.gather(layer - 1, True)
                self.add("wait", stream=self.main, event=("parameters", layer), call_ns=self.call_ns(1200))
            self.layer(True)
            if job.kind == "fsdp":
                self.collective("_reduce_scatter_base", group, "scatter", 1 << 22)
            elif job.dp > 1 and last and job.kind != "ep" and (layer % 2 == 0 or job.layers < 4):
                self.collective("allreduce", group, "buckets", 1 << 23)
            self.leave()
        self.add("thread", "main", self.host_ns(12 * US))
        if inside:
            self.leave()

    def read(self, name="aten::item"):
        """A value from the device: the host waits for it."""
        self.frame(name)
        self.frame("aten::_local_scalar_dense")
        self.add("launch", "Memcpy DtoH (Device -> Pageable)", 2 * US, call_ns=self.call_ns(), stream=self.main, kind="gpu_memcpy")
        self.add("sync", "cudaStreamSynchronize", stream=self.main, call_ns=self.call_ns(1500))
        self.leave()
        self.leave()

    def update(self):
        job = self.job
        for stream in {"fsdp": ("scatter",), "ep": ()}.get(job.kind, ("buckets",) if job.dp > 1 else ()):
            self.follow(self.main, stream)
        inside = self.function("train.py(140): clip_and_step")
        self.op("aten::_foreach_norm", ("void at::native::multi_tensor_apply_kernel<norm>", job.point_ns))
        if job.sync in ("norm", "both") or job.tp > 1 or job.pp > 1:
            self.collective("allreduce", "world", "world", 1)
            self.follow(self.main, "world")
        if job.sync in ("norm", "both"):
            self.read()
        self.frame("Optimizer.step#AdamW.step", "user_annotation", 10 * US)
        for _ in range(3):
            self.op("aten::_fused_adamw_", ("void at::native::multi_tensor_apply_kernel<FusedAdam>", 0.7 * job.gemm_ns))
        self.leave()
        self.frame("Optimizer.zero_grad#AdamW.zero_grad", "user_annotation", 5 * US)
        self.add("launch", "Memset (Device)", 3 * US, call_ns=self.call_ns(), stream=self.main, kind="gpu_memset")
        self.leave()
        if inside:
            self.leave()

    def lengths(self, number, micro):
        sigma = self.job.noise.length
        rng = random.Random("%d length %d %d %d" % (self.job.seed, number, micro, self.replica))
        self.length = rng.lognormvariate(0, sigma) if sigma else 1.0

    def pipeline(self, number):
        """1F1B: so many forward passes first that the last stage goes back at once."""
        job, batched = self.job, self.job.batched
        ahead = min(job.pp - 1 - self.stage, job.microbatches)
        first, last = self.stage == 0, self.stage == job.pp - 1
        fed, done = 0, 0
        behind, front = self.stage - 1, self.stage                    # pairs: the one before this stage, the one after it

        def ways(forward, stage, what):
            self.exchange("batch" if batched else "forward" if forward else "backward", stage, what)

        def both(stage, order):
            if batched:
                self.exchange("batch", stage, "coalesced")
            else:
                for forward in order:
                    ways(forward, stage, "send" if forward == (stage == front) else "recv")

        def forth():
            nonlocal fed
            self.lengths(number, fed)
            self.forward()
            fed += 1

        def back():
            nonlocal done
            self.lengths(number, done)
            done += 1
            self.backward(done == job.microbatches)

        for _ in range(ahead):
            if not first:
                ways(True, behind, "recv")
            forth()
            ways(True, front, "send")
        steady = job.microbatches - ahead
        if steady and not first:
            ways(True, behind, "recv")
        for i in range(steady):
            forth()
            if not last:
                both(front, (True, False))
            back()
            if not first:
                if i + 1 < steady:
                    both(behind, (False, True))
                else:
                    ways(False, behind, "send")
        for _ in range(ahead):
            ways(False, front, "recv")
            back()
            if not first:
                ways(False, behind, "send")

    def one_step(self, number):
        job, self.step = self.job, number
        self.step_speed = 1 + self.rng.gauss(0, job.noise.step)
        self.add("step")
        inside = self.function("train.py(101): train_step")
        if self.stage in (0, job.pp - 1):
            self.load()
        if job.pp > 1:
            self.pipeline(number)
        else:
            self.lengths(number, 0)
            self.forward()
            self.backward(True)
        self.update()
        if job.sync in ("loss", "both") or (job.sync == "rarely" and number % 4 == 0):
            self.read()
        if inside:
            self.leave()


def programs(job):
    """The program of each rank: warm-up steps, and those that are recorded."""
    out = []
    for rank in range(job.ranks):
        program = Program(job, rank)
        for number in range(job.first - job.warmup, job.first + job.steps):
            program.one_step(number)
        out.append(program.ops)
    return out
