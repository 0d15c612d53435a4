// What a compiled artefact says about its kernels, and the file format that carries it.
//
// An artefact is one PTX text whose leading comment block holds the manifest as JSON, so that the driver
// takes the file as it is:
//
//   // mlac artefact 1 <bytes of json> <crc32 of json>
//   // {
//   //   "version": 2,
//   // ...
//   // mlac ptx <bytes of ptx> <crc32 of ptx>
//   .version 8.7
//   ...
#pragma once

#include "mla/Types.h"
#include "runtime/Error.h"
#include "runtime/ScoreEdit.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mla {

enum class Role { query, cache, key, value, scalar, headValues, output, lse };
std::string_view name(Role role);
std::optional<Role> parseRole(std::string_view text);

/// How the scale of a group of columns is stored; pow2 is a f32 of which the exponent alone counts.
enum class ScaleFormat { none, f32, pow2, ue8m0 };
std::string_view name(ScaleFormat format);
std::optional<ScaleFormat> parseScaleFormat(std::string_view text);
/// Size of one scale in bytes.
constexpr int64_t bytes(ScaleFormat format) {
  return format == ScaleFormat::none ? 0 : format == ScaleFormat::ue8m0 ? 1 : 4;
}

/// Neighbouring columns of a record, stored alike. Scales, one a group of columns, follow the values or lie
/// apart, in a row of scales; a column is its code times the scale of its group.
struct RecordPart {
  std::string name;
  DType dtype = DType::e4m3;
  int64_t width = 0;
  ScaleFormat scale = ScaleFormat::none;
  int64_t group = 0;
  bool apart = false;

  bool operator==(const RecordPart &) const = default;

  int64_t valueBytes() const { return width * mla::bytes(dtype); }
  int64_t scaleBytes() const { return group ? width / group * mla::bytes(scale) : 0; }
};

/// One argument of a kernel.
struct Operand {
  std::string name;
  Role role = Role::query;
  Layout layout = Layout::ragged;
  DType dtype = DType::f32;
  /// Shape of one token: query and output [heads, dim], cache [dim], key and value [kvHeads, dim], lse and
  /// head values [heads], scalar []. A record's is its bytes.
  std::vector<int64_t> shape;
  /// Bytes that the base address and every stride (times the element size) are a multiple of.
  int alignment = 16;
  /// What a row of bytes (u8) consists of, in memory order; else empty.
  std::vector<RecordPart> record = {};

  bool operator==(const Operand &) const = default;
  /// Bytes of a token's scales that lie apart, padded to a multiple of 4; 0 if there are none.
  int64_t scaleRowBytes() const {
    int64_t bytes = 0;
    for (const RecordPart &part : record)
      bytes += part.apart ? part.scaleBytes() : 0;
    return (bytes + 3) / 4 * 4;
  }
};

/// How the kernel cuts its work.
struct Tile {
  int rows = 0;   ///< packed (query token x head) rows a block handles at a time
  int tokens = 0; ///< cached tokens of one KV tile
  int stages = 0; ///< KV tiles in flight
  int warps = 0;

  bool operator==(const Tile &) const = default;
};

/// A function of the PTX. `params` names its parameters in order, in the vocabulary of runtime/Abi.h.
struct Entry {
  std::string name;
  int threads = 0;         ///< threads of a block
  int64_t sharedBytes = 0; ///< dynamic shared memory of a block
  std::vector<std::string> params;
  /// Waits by itself for the launch before it (griddepcontrol.wait), and so may begin before that is done.
  bool overlaps = false;

  bool operator==(const Entry &) const = default;
};

/// A factor known at launch: the constant times the product of the named scalar operands.
struct Scale {
  double constant = 1;
  std::vector<std::string> scalars;

  bool operator==(const Scale &) const = default;
};

/// One kernel. Its meaning, per request, query token i at position p = i + kv_len - q_len and head h, over
/// the cached rows c[j] that are visible (all of the request's; with `causal` those with j <= p, with a
/// window those with j >= p - window, and those that the edit keeps):
///
///   score[j] = edit(scoreScale * sum_d q[i][h][d] * c[j][d])              d < qkDim
///   weight[j] = exp(score[j]) / (exp(sink[h]) + sum_k exp(score[k]))      without exp(sink[h]) if there is
///   none out[i][h][d] = valueScale * sum_j weight[j] * c[j][vOffset + d]           d < vDim lse[i][h] =
///   log_base(sum_j exp(score[j])), with sinkInLse of exp(sink[h]) + that sum
///
/// c holds decoded stored values. Without a visible row, out is 0 and the sum is 0, its lse -inf.
///
/// A decode kernel has a cache, a latent row that all heads share. A prefill kernel has a key and a value instead:
/// c[j] is then the row of KV head h * kvHeads / heads in the key, and its values are that row in the value.
struct KernelInfo {
  std::string name;
  int heads = 0;
  int kvHeads = 0; ///< of a prefill kernel; they divide heads. 0: a decode kernel
  int qkDim = 0;
  int vDim = 0;
  int vOffset = 0;
  DType compute = DType::f16;
  bool causal = false;
  int64_t window = -1; ///< tokens before a query's own that it sees; -1: all
  std::string sink;    ///< the head values that are a logit more in the softmax's sum; empty: none
  bool sinkInLse = false;
  LseBase lse = LseBase::none;
  Scale scoreScale;
  Scale valueScale;
  ScoreEdit scoreEdit; ///< empty: scores are only scaled
  std::vector<Operand> operands;
  Tile tile;
  Entry main;    ///< walks the work list
  Entry combine; ///< merges partial results, one block a row; empty name: the kernel is never split
  Entry merge;   ///< merges outputs by their LSEs, one block a row; empty name: the kernel has no LSE
  Entry planner; ///< plans a batch whose lengths are in device memory; empty name: only the host plans
  Entry check;   ///< looks for bad page-table entries; empty name: the cache is not paged

  bool operator==(const KernelInfo &) const = default;

  bool isPrefill() const { return kvHeads > 0; }
  /// Query heads that share one cached row.
  int headsPerKv() const { return isPrefill() ? heads / kvHeads : heads; }
  /// What the scores are computed from: the cache, or the key.
  const Operand &cached() const { return *find(isPrefill() ? Role::key : Role::cache); }
  /// The operand of that name, or null.
  const Operand *find(std::string_view operandName) const;
  /// The first operand of that role, or null.
  const Operand *find(Role role) const;
};

/// A kernel that appends rows to a paged cache. Element c of the row at slot s is, of the new row's parts side by side,
///
///   cache[s][c] = rounded to the cache's dtype(parts[c] / divisor), the quotient in f32
///
/// to the nearest, ties to even; beyond the largest finite value it is that value, NaN stays NaN (0 in s8). Where it is not
/// `rounded` the part's bits are copied.
struct WriterInfo {
  std::string name;
  std::vector<Operand> parts; ///< role cache, ragged: rows that are found one after another
  Operand cache;
  bool rounded = false;
  Scale divisor; ///< the factors are multiplied in f32, in this order
  int elements = 0; ///< of a row that a thread takes
  Entry main;

  bool operator==(const WriterInfo &) const = default;

  int64_t width() const { return cache.shape[0]; }
};

/// The manifest version this library writes and the newest it reads.
inline constexpr int manifestVersion = 2;

struct Manifest {
  int version = manifestVersion;
  std::string compiler;   ///< name and version of the writer
  std::string sourceHash; ///< hash of source and options
  std::string target;     ///< e.g. "sm_120"
  std::string profile;    ///< the resource profile the tiles were chosen for
  std::string ptxVersion; ///< e.g. "8.7"
  std::vector<KernelInfo> kernels;
  std::vector<WriterInfo> writers;

  bool operator==(const Manifest &) const = default;

  /// The kernel of that name, or null.
  const KernelInfo *find(std::string_view kernelName) const;
  const WriterInfo *findWriter(std::string_view writerName) const;
};

/// The manifest as indented JSON with a stable key order.
std::string toJson(const Manifest &manifest);

/// Throws Error artefactNewer, artefactDamaged (no JSON) or manifestInvalid (a field missing, of the wrong
/// type or impossible; the error's `field` is its path).
Manifest manifestFromJson(std::string_view json);

/// Manifest and PTX as one artefact. The PTX must not be empty.
std::string writeArtefact(const Manifest &manifest, std::string_view ptx);

/// The inverse. Every byte of the artefact is covered by a length and a checksum. Throws Error
/// artefactMissing, artefactTruncated, artefactDamaged, artefactNewer or manifestInvalid.
Manifest readArtefact(std::string_view artefact);

/// readArtefact() for code built without exceptions: empty on failure, and then `message` says why.
std::optional<Manifest> tryReadArtefact(std::string_view artefact, std::string &message);

} // namespace mla
