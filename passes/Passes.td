// Every pass: one file, one flag, one test and one -errors test, all of the same name.
#ifndef PASSES_PASSES_TD
#define PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

//===-- mla ---------------------------------------------------------------------------------------------===//

def RejectBufferCast : Pass<"mla-reject-buffer-cast", "::mlir::ModuleOp"> {
  let summary = "Refuse every op that would store a converted copy of a whole buffer";
  let description = [{
    A whole-buffer cast gives right numbers and wrong speed: an FP8 pool of 495,000 tokens x 576 moves 855 MB a
    layer. The error stands at the cast, notes at the buffer and at each step from it, another names the way out.
    Conversions inside tile loads (`mla.dequant`, or a load and `arith.extf`) pass. Works on this project's dialects
    and on func, memref, tensor, linalg, arith, scf, cf, affine, vector, gpu and bufferization; ops of other dialects
    are skipped with a remark [buffer-cast-unknown]. The rule [buffer-cast] is written in BufferCastAnalysis.h and
    docs/audit.md.
  }];
  let options = [
    Option<"layers", "layers", "int64_t", "0", "Layers a step; adds the bytes per step to the message">,
    Option<"poolTokens", "pool-tokens", "int64_t", "0", "Tokens of the pool; adds the bytes per call">,
    Option<"threshold", "threshold", "int64_t", "1048576", "Bytes from which a memref or tensor is a buffer">
  ];
  let statistics = [Statistic<"visits", "visits", "ops looked at, with repetitions">,
                    Statistic<"casts", "casts", "whole-buffer casts found">];
}

def InferScales : Pass<"mla-infer-scales", "::mlir::ModuleOp"> {
  let summary = "Move scales of stored rows into the scores' scale and the result";
  let description = [{
    `dot(q, k * s)` is `dot(q, k) * s`, `probs @ (v * s)` is `(probs @ v) * s`: exact algebra, and afterwards no
    cached element is multiplied by its scale. A row whose scale cannot be moved is an error [scale-stuck].
  }];
  let statistics = [Statistic<"moved", "moved", "scales moved">];
}

def FuseEdits : Pass<"mla-fuse-edits", "::mlir::ModuleOp"> {
  let summary = "All that is computed on scores as one edit, between the product's scale and the masks";
  let description = [{
    Afterwards scores are dot, scales, at most one `mla.edit`, `mla.causal`, `mla.window` in this order: a hidden token stays
    hidden whatever is computed on its score, so masks go last and several are one. The scores of one product alone
    can meet in an edit [edit-product].
  }];
  let dependentDialects = ["::mlir::mla::MLADialect", "::mlir::arith::ArithDialect"];
}

def Tile : Pass<"mla-tile", "::mlir::ModuleOp"> {
  let summary = "Attention as a loop over KV tiles: load, dequant, score, mask, online softmax, accumulate";
  let description = [{
    Makes two entry points a kernel: the walk over the plan's work items, and the combine of rows that were
    split over blocks. A kernel whose key and value are two buffers is a prefill kernel, and has no combine.
    Rules: [attention-form] results are softmax(scores) @ value and logsumexp(scores) of one query, one key and one value; [latent-width] the value is a multiple of 64 up to 512 wide; [rope-width] the key is 0, 16, 32 or
    64 wider; [value-offset] the value starts at a multiple of 16; [heads-range] 1 to 128 heads;
    [query-storage] the query is f16 or bf16; [output-storage] the output is f16, bf16 or f32; [latent-heads] a row that is
    key and value has no heads. Of prefill: [kv-heads] key and value have as many heads, which divide the query's;
    [kv-layout] both are ragged; [prefill-width] both are a multiple of 16 up to 256 wide.
  }];
  let dependentDialects = ["::mlir::tile::TileDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def TileWriter : Pass<"mla-tile-writer", "::mlir::ModuleOp"> {
  let summary = "A kernel whose result is a cache as one op that appends rows to it";
  let description = [{
    Makes one entry point a writer, and chooses how many elements a thread takes: as many as one access stores and all
    parts of a row are a multiple of. Rules: [writer-form] the result is rows of whole buffers side by side, perhaps divided and
    rounded; [writer-source] the buffers are ragged, without heads, of f16 or bf16; [writer-width] and a multiple of 4 wide;
    [writer-cache] the cache has no heads and does not store f32; [hint-family] a warning: hints say nothing to a writer.
  }];
  let dependentDialects = ["::mlir::tile::TileDialect", "::mlir::arith::ArithDialect"];
}

//===-- tile --------------------------------------------------------------------------------------------===//

def FuseDequant : Pass<"tile-fuse-dequant", "::mlir::ModuleOp"> {
  let summary = "Move every dequant into the tile load that it reads from";
  let description = [{
    Afterwards a tile says what it reads as and what its bytes are (`f16 from f8E4M3FN`), and no dequant is left:
    one that does not read a load is an error [dequant-unfused].
  }];
  let statistics = [Statistic<"fused", "fused", "dequants fused into loads">];
}

def Schedule : Pass<"tile-schedule", "::mlir::ModuleOp"> {
  let summary = "Choose tile sizes, warps and stages within the profile's limits";
  let description = [{
    Lists the schedules that fit the profile's shared memory, registers and threads and takes the one that the
    cost model puts first; a remark says which and why. Kernel hints (rows, tokens, stages, dim_warps, token_warps)
    fix what they name. When nothing fits, the error names the smallest need and what is available [schedule-fit].
    A kernel's attribute `tile.tuned` is taken in place of the model's choice if it is among those that fit, else a warning says so
    [schedule-tuned]. With `candidates` nothing is chosen: the best that many stand in the attribute `tile.candidates`.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_120\"", "Instruction target">,
    Option<"profile", "profile", "std::string", "\"\"", "Resource profile; the target's own by default">,
    Option<"ptx", "ptx", "std::string", "\"\"", "PTX version; the lowest that the target takes by default">,
    Option<"sharedLimit", "shared-limit", "int64_t", "0", "Bytes of shared memory a block may take, to override the profile">,
    Option<"candidates", "candidates", "int64_t", "0", "List this many schedules, best first, and choose none">
  ];
}

def SchedulePrefill : Pass<"tile-schedule-prefill", "::mlir::ModuleOp"> {
  let summary = "The same for prefill kernels, whose schedules are of a family of their own";
  let description = [{
    As tile-schedule, for kernels with keys and values of two buffers. Hints that count are rows, tokens, stages and row_warps
    [hint-family].
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_120\"", "Instruction target">,
    Option<"profile", "profile", "std::string", "\"\"", "Resource profile; the target's own by default">,
    Option<"ptx", "ptx", "std::string", "\"\"", "PTX version; the lowest that the target takes by default">,
    Option<"sharedLimit", "shared-limit", "int64_t", "0", "Bytes of shared memory a block may take, to override the profile">,
    Option<"candidates", "candidates", "int64_t", "0", "List this many schedules, best first, and choose none">
  ];
}

def Pipeline : Pass<"tile-pipeline", "::mlir::ModuleOp"> {
  let summary = "Shared memory, asynchronous copies, stages and barriers";
  let description = [{
    A group scores and weighs a tile while the copies of the block's next tiles, of this item or a later one, are under way; the
    next item's query is fetched while results are stored. The ring's protocol is checked by tile-verify-pipeline.
  }];
}

def PipelinePrefill : Pass<"tile-pipeline-prefill", "::mlir::ModuleOp"> {
  let summary = "The same for prefill kernels: a ring of keys and one of values";
  let description = [{
    Before each use of a tile all threads meet, and the copy into the place of the tile used before starts.
    Checked by tile-verify-pipeline.
  }];
}

def VerifyPipeline : Pass<"tile-verify-pipeline", "::mlir::ModuleOp"> {
  let summary = "Check that every stage is landed and visible when read and unread when refilled";
  let description = [{
    Runs the scheduled kernel abstractly with two items of 0 up to 2 * stages + 1 KV tiles: each read of a stage must find the
    next tile of the stream, landed by a wait and made visible by a barrier [pipeline-read]; a refill must not overtake a
    read [pipeline-refill]; shared results, and the memory that the groups' merge goes through, must be written and read on
    different sides of a barrier [pipeline-barrier]; no copy is left under way at the kernel's end [pipeline-drain].
  }];
}

//===-- nvvm --------------------------------------------------------------------------------------------===//

def Planner : Pass<"tile-planner", "::mlir::ModuleOp"> {
  let summary = "Beside each scheduled kernel, entry points that plan its batches and check page tables on the device";
  let description = [{
    `<kernel>_plan` makes the plan of a batch whose lengths are in device memory, `<kernel>_check` looks for page-table
    entries outside of the pool. Kernels that walk no plan have neither. Rule: [planner-name] the names are free.
  }];
  let dependentDialects = ["::mlir::tile::TileDialect"];
}

def ToNVVM : Pass<"tile-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Scheduled tile ops to LLVM and NVVM: one pattern file an op family";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"sm_120\"", "Instruction target">,
    Option<"ptx", "ptx", "std::string", "\"\"", "PTX version">
  ];
}

def SpreadCopies : Pass<"mlac-spread-copies", "::mlir::ModuleOp"> {
  let summary = "Asynchronous copies between the matrix products that follow them";
  let description = [{
    Within a block of straight code, the copies of a batch move down between the matrix products that follow its commit, in
    bursts of four; the commit follows the last of them, and arithmetic and shuffles before it go down to their first use. No
    copy, commit or shuffle crosses a barrier, a wait, another batch, or an op with a region that holds one. A batch
    without such products stays as it is.
  }];
}

def CheckTarget : Pass<"mlac-check-target", "::mlir::ModuleOp"> {
  let summary = "Every instruction against the target's table, before LLVM sees it";
  let description = [{
    LLVM aborts the process on an instruction that a target lacks; here it is a located error that names the
    instruction, the target, and targets that have it [target-instruction]. Unknown intrinsics are errors too [target-unknown].
  }];
  let options = [
    Option<"target", "target", "std::string", "\"sm_120\"", "Instruction target">,
    Option<"ptx", "ptx", "std::string", "\"\"", "PTX version">
  ];
}

def Emulate : Pass<"mlac-emulate", "::mlir::ModuleOp"> {
  let summary = "Lowered kernels to host code that runs on the emulator";
  let description = [{
    Each instruction becomes a call of the emulator's hook for it, each load and store is preceded by its check, and
    every kernel gets an entry `<name>_entry` that takes pointers to its arguments. The location of the tile op goes along
    as text, so that the emulator can name it.
  }];
}

#endif
