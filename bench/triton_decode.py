"""MLA decode in Triton: a plain split-KV kernel, FP8 rows converted in the tile, and its combine. The peer that a good engineer
writes in an afternoon; tuned over the list at the end."""

import torch
import triton
import triton.language as tl

LOG2E = 1.4426950408889634


@triton.jit(do_not_specialize=["heads", "length", "table_stride", "splits", "tokens_per_split"])
def split_kernel(q, pool, table, part, part_lse, score_scale, heads, length, table_stride, splits, tokens_per_split,
                 BLOCK_H: tl.constexpr, BLOCK_N: tl.constexpr, PAGE: tl.constexpr, LATENT: tl.constexpr, ROPE: tl.constexpr,
                 FP8: tl.constexpr, COMPUTE: tl.constexpr):
    request, block, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    head = block * BLOCK_H + tl.arange(0, BLOCK_H)
    latent, rope = tl.arange(0, LATENT), LATENT + tl.arange(0, ROPE)
    row = request * heads + head
    q_row = q + row[:, None] * (LATENT + ROPE)
    q_latent = tl.load(q_row + latent[None, :], mask=head[:, None] < heads, other=0.0).to(COMPUTE)
    q_rope = tl.load(q_row + rope[None, :], mask=head[:, None] < heads, other=0.0).to(COMPUTE)
    best = tl.full([BLOCK_H], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_H], tl.float32)
    acc = tl.zeros([BLOCK_H, LATENT], tl.float32)
    begin = split * tokens_per_split
    end = tl.minimum(begin + tokens_per_split, length)
    for start in range(begin, end, BLOCK_N):
        token = start + tl.arange(0, BLOCK_N)
        valid = token < end
        page = tl.load(table + request * table_stride + token // PAGE, mask=valid, other=0).to(tl.int64)
        kv_row = pool + (page * PAGE + token % PAGE)[:, None] * (LATENT + ROPE)
        k_latent = tl.load(kv_row + latent[None, :], mask=valid[:, None], other=0)
        k_rope = tl.load(kv_row + rope[None, :], mask=valid[:, None], other=0)
        if FP8:
            k_latent = k_latent.to(tl.float8e4nv, bitcast=True)
            k_rope = k_rope.to(tl.float8e4nv, bitcast=True)
        k_latent, k_rope = k_latent.to(COMPUTE), k_rope.to(COMPUTE)
        score = tl.dot(q_latent, tl.trans(k_latent))
        score = tl.dot(q_rope, tl.trans(k_rope), score) * score_scale
        score = tl.where(valid[None, :], score, float("-inf"))
        larger = tl.maximum(best, tl.max(score, 1))
        prob = tl.exp2(score - larger[:, None])
        shrink = tl.exp2(best - larger)
        total = total * shrink + tl.sum(prob, 1)
        acc = tl.dot(prob.to(COMPUTE), k_latent, acc * shrink[:, None])
        best = larger
    at = row * splits + split
    tl.store(part + at[:, None] * LATENT + latent[None, :], acc / total[:, None], mask=head[:, None] < heads)
    tl.store(part_lse + at, best + tl.log2(total), mask=head < heads)


@triton.jit(do_not_specialize=["splits"])
def combine_kernel(part, part_lse, out, out_lse, value_scale, splits, MOST: tl.constexpr, LATENT: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    index, latent = tl.arange(0, MOST), tl.arange(0, LATENT)
    lse = tl.load(part_lse + row * splits + index, mask=index < splits, other=float("-inf"))
    best = tl.max(lse, 0)
    total = tl.sum(tl.exp2(lse - best), 0)
    acc = tl.zeros([LATENT], tl.float32)
    for split in range(0, splits):
        weight = tl.exp2(tl.load(part_lse + row * splits + split) - best)
        acc += weight * tl.load(part + (row * splits + split) * LATENT + latent)
    tl.store(out + row * LATENT + latent, (acc / total * value_scale).to(out.dtype.element_ty))
    tl.store(out_lse + row, best + tl.log2(total))


MOST_SPLITS = 256


class Decode:
    """One shape and one configuration, with its workspace. Every split has tokens: none is empty."""

    def __init__(self, operands, block_h, block_n, warps, stages, waves):
        self.o, self.block_h, self.block_n, self.warps, self.stages = operands, block_h, block_n, warps, stages
        batch, heads, length = operands.batch, operands.heads, operands.length
        self.head_blocks = -(-heads // block_h)
        wanted = max(1, min(MOST_SPLITS, waves * operands.multiprocessors // (batch * self.head_blocks)))
        self.tokens = -(-(-(-length // wanted)) // block_n) * block_n
        self.splits = -(-length // self.tokens)
        rows, device = batch * heads, operands.q.device
        self.part = torch.empty((rows, self.splits, operands.latent), dtype=torch.float32, device=device)
        self.part_lse = torch.empty((rows, self.splits), dtype=torch.float32, device=device)
        self.out = torch.empty((batch, heads, operands.latent), dtype=torch.bfloat16, device=device)
        self.lse = torch.empty((batch, heads), dtype=torch.float32, device=device)

    def __call__(self, copy):
        o = self.o
        pool = o.pool[copy].view(torch.uint8) if o.fp8 else o.pool[copy]
        split_kernel[(o.batch, self.head_blocks, self.splits)](
            o.q, pool, o.table, self.part, self.part_lse, o.score_scale * LOG2E, o.heads, o.length, o.table.stride(0),
            self.splits, self.tokens, BLOCK_H=self.block_h, BLOCK_N=self.block_n, PAGE=o.page, LATENT=o.latent, ROPE=o.rope,
            FP8=o.fp8, COMPUTE=tl.float16 if o.compute == torch.float16 else tl.bfloat16, num_warps=self.warps,
            num_stages=self.stages)
        combine_kernel[(o.batch * o.heads,)](self.part, self.part_lse, self.out, self.lse, o.value_scale, self.splits,
                                             MOST=MOST_SPLITS, LATENT=o.latent, num_warps=4)
        return self.out

    @property
    def name(self):
        return (f"{self.block_h} heads x {self.block_n} tokens, {self.warps} warps, {self.stages} stages, "
                f"{self.splits} splits")


def configurations(heads):
    """(heads a block, tokens a step, warps, stages) worth trying; what does not fit a card is skipped when it is launched."""
    blocks = [16] if heads <= 16 else [16, 32] if heads == 32 else [32, 64]
    return [(h, n, w, s) for h in blocks for n, w, s in ((32, 4, 2), (64, 4, 2), (32, 8, 2), (64, 8, 2), (64, 8, 1))]


WAVES = (1, 2, 4)  # blocks a multiprocessor that the splits aim at
