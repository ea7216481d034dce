"""job.py - a training job as it is drawn: its sizes, habits, noise, process groups, and what their transfers take.

Ranks are numbered rank = (stage * dp + replica) * tp + shard; times are nanoseconds.  A transfer is a nominal time by what its
group is there for, longer by chance; members leave it up to 20 us apart.
"""

import random

US = 1000


class Noise:
    """How the durations of a job vary; shares of one, unless said otherwise.  What is added once, by the tails, is at most MOST
    of a step: more would be a fault that nobody planted."""

    MOST = 0.03

    def __init__(self, rng, wild):
        self.kernel = rng.uniform(0.005, 0.05 if wild else 0.025)        # sigma, kernel by kernel
        self.kernel_tail = rng.choice((0, 0.0005, 0.003)) * (2 if wild else 1)
        self.call = rng.uniform(0.08, 0.4)                               # sigma, call by call
        self.call_tail = rng.choice((0.0002, 0.001, 0.003))
        self.tail_ns = rng.choice((30, 80, 200)) * US                    # size of what the tail of a call adds
        self.static = 0.005                                              # sigma, device by device
        self.host_static = 0.005                                         # ... host by host
        self.step = rng.uniform(0, 0.006)                                # ... of all kernels of a rank in a step
        self.transfer = rng.uniform(0.01, 0.1)
        self.length = rng.choice((0, 0, 0, 0.05, 0.12))                  # sigma of sequence lengths


class Job:
    """Sizes and habits of a job.  Nominal times in ns: of a matrix product, an elementwise kernel, a call, an operator."""

    def __init__(self, rng, kind=None, ranks=None, wild=None):
        self.kind = kind or rng.choice(("dp", "dp", "fsdp", "fsdp", "tp", "pp", "tp-dp", "pp-dp", "tp-pp-dp", "ep"))
        self.tp = {"tp": ranks or rng.choice((4, 8)), "tp-dp": rng.choice((2, 4)), "tp-pp-dp": 2}.get(self.kind, 1)
        self.pp = {"pp": ranks or rng.choice((4, 8)), "pp-dp": rng.choice((2, 4)), "tp-pp-dp": 2}.get(self.kind, 1)
        usual = {"tp": self.tp, "pp": self.pp, "tp-pp-dp": 8}.get(self.kind, rng.choice((4, 8, 8, 16)))
        self.ranks = max(ranks or usual, self.tp * self.pp * (2 if "dp" in self.kind else 1))
        self.dp = self.ranks // (self.tp * self.pp)
        self.per_host = rng.choice((4, 8))
        self.layers = rng.choice((3, 4, 6)) if self.pp == 1 else rng.choice((1, 2))
        self.microbatches = self.pp * rng.choice((1, 2)) if self.pp > 1 else 1
        self.steps, self.warmup, self.first = rng.choice((6, 8, 10, 12)), 2, rng.choice((2, 5, 40, 1000))
        self.noise = Noise(rng, rng.random() < 0.3 if wild is None else wild)
        self.gemm_ns = int(rng.choice((40, 90, 200, 400)) * US * rng.uniform(0.7, 1.4))
        self.point_ns = int(self.gemm_ns * rng.uniform(0.08, 0.3))
        self.op_ns = int(rng.uniform(6, 18) * US)
        self.call_ns = int(rng.uniform(3, 8) * US)
        self.load_ns = int(rng.uniform(50, 2000) * US)
        self.bytes_ns = rng.uniform(0.3, 1.2)                            # of a layer's gradients, in matrix products
        self.sync = rng.choice(("loss", "loss", "norm", "both", "rarely", "never"))
        self.pinned = rng.random() < 0.8
        self.batched = rng.random() < 0.4                                # sends and receives
        self.own_stream = rng.random() < 0.7                             # collectives of shards
        self.frames = rng.random() < 0.3                                 # Python functions are recorded
        self.loader = rng.random() < 0.8                                 # loading data is annotated
        self.beside = rng.choice((0, 0, 0.02, 0.05))
        self.most_ns = Noise.MOST * self.least_step_ns()
        self.seed = rng.randrange(1 << 40)
        habits = random.Random("%d habits" % self.seed)
        self.grids = habits.random() < 0.7                               # kernels are recorded with their grids
        self.split = habits.random() < 0.15                              # a product comes in one to three kernels, at random
        self.tuned = habits.random() < 0.2                               # each rank has found other kernels fastest for products
        self.groups = self.all_groups()

    def least_step_ns(self):
        """What the matrix products of a step take."""
        return 21 * self.gemm_ns / self.tp * self.layers * self.microbatches

    def place(self, rank):
        """(stage, replica, shard)"""
        return rank // (self.tp * self.dp), rank // self.tp % self.dp, rank % self.tp

    def at(self, stage, replica, shard):
        return (stage * self.dp + replica) * self.tp + shard

    def all_groups(self):
        """name: members, in order of ranks."""
        groups = {"world": list(range(self.ranks))}
        for stage in range(self.pp):
            for shard in range(self.tp):
                groups["dp", stage, shard] = [self.at(stage, r, shard) for r in range(self.dp)]
            for replica in range(self.dp):
                groups["tp", stage, replica] = [self.at(stage, replica, s) for s in range(self.tp)]
        for stage in range(self.pp - 1):
            for replica in range(self.dp):
                for shard in range(self.tp):
                    pair = [self.at(stage, replica, shard), self.at(stage + 1, replica, shard)]
                    for way in ("batch", "forward", "backward"):
                        groups["pair", way, stage, replica, shard] = pair
        return groups

    def transfers(self):
        """Transfers drawn group by group, in order: the same whoever has which fault."""
        rngs, drawn = {}, {}

        def transfer(group, n):
            rng = rngs.setdefault(group, random.Random("%d %s" % (self.seed, group)))
            done = drawn.setdefault(group, [])
            while len(done) <= n:
                ring = 20 * US if len(self.groups[group]) > 2 else 6 * US
                done.append((abs(rng.gauss(0, self.noise.transfer)) + (rng.paretovariate(2) - 1 if rng.random() < 0.005 else 0),
                             [int(min(rng.expovariate(1 / 3e3), ring)) for _ in self.groups[group]]))
            more, tails = done[n]
            return int(self.nominal(group) * (1 + more)), tails

        return transfer

    def nominal(self, group):
        """Transfer of a collective, by what its group is there for."""
        kind = group[0] if isinstance(group, tuple) else group
        if kind == "world":
            return 12 * US
        if kind == "pair":
            return 0.15 * self.gemm_ns + 8 * US
        if kind == "tp" or self.kind == "ep":
            return 0.25 * self.gemm_ns + 10 * US
        return self.bytes_ns * self.gemm_ns * (1 if self.kind == "fsdp" else 2) + 15 * US
