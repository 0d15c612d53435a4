// Kernels, plans and runs.
//
//   auto device = std::shared_ptr<mla::Device>(mla::createCudaDevice());
//   mla::Kernel kernel = mla::Kernel::load(device, artefact);
//   mla::Config config;
//   config.capacity = {.requests = 64, .queryRows = 64};
//   size_t bytes = kernel.workspaceSize(config);
//   mla::BatchPlan plan = kernel.prepare(config, {device->allocate(bytes, "workspace"), bytes});
//   for (;;) {
//     plan.plan({.qIndptr = q, .kvLen = lengths, .pageSize = 64, .tableColumns = 512, .pages = 10000},
//     stream); plan.run(operands, stream);
//   }
//
// Shapes are in elements, strides in elements, sizes in bytes; indices and offsets are 64-bit wherever an
// index meets a stride. Every function that refuses something throws Error, leaves the object as it was
// before the call and, but for plan(), has not touched the device.
#pragma once

#include "mla/Device.h"
#include "mla/Types.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mla {

struct KernelInfo;

/// The largest batch that a plan is made for. Buffers and, in graphs, launches have these sizes.
struct Capacity {
  int64_t requests = 0;  ///< must be given, at least 1
  int64_t queryRows = 0; ///< query tokens of all requests; must be given, at least 1
  int64_t workItems = 0; ///< 0: as many as the two above can need
};

/// What stays the same from one run to the next; every mode repeats bitwise on the same plan and operands.
enum class Deterministic {
  run,   ///< no more than that: the split may depend on the whole batch
  batch, ///< a row's bits do not depend on what else is in the batch
};

/// What the caller has, to be compared with what the kernel was compiled for, and how it wants to run. A
/// field that is not set is not compared.
struct Config {
  std::optional<DType> queryDType, cacheDType, outDType;
  std::optional<int64_t> heads, qkDim, vDim;
  std::optional<Layout> layout; ///< of the cache
  std::optional<bool> causal;
  std::optional<int64_t> window; ///< tokens to the left; -1: no window
  std::optional<LseBase> lse; ///< none: the caller passes no LSE; refused if the kernel writes one

  Capacity capacity;
  int blocks = 0;    ///< blocks that run at once; 0: what the device holds
  bool split = true; ///< may a row's context be split over blocks?
  Deterministic deterministic = Deterministic::run;
  /// Launches have the capacity's size, so that a captured run() can be replayed after any later plan().
  bool graph = false;
  /// The combine may begin while the main kernel's last blocks run (programmatic dependent launch), where
  /// kernel, device and driver can; the same bits either way.
  bool overlap = true;
  /// For debugging: run() has the device look through the page table first, and names the request and slot of
  /// a bad entry. Waits for the stream, so it cannot be captured.
  bool checkTables = false;
};

/// What a kernel is, and what it accepts. Needs no device.
class KernelDescription {
public:
  /// Reads an artefact. `name` may be empty if there is one kernel. Throws Error artefact..., manifestInvalid
  /// or kernelUnknown.
  static KernelDescription read(std::string_view artefact, std::string_view name = {});

  const std::string &name() const;
  int64_t heads() const;
  int64_t kvHeads() const; ///< of a prefill kernel, whose keys and values have heads; 0 for a decode kernel
  int64_t qkDim() const;
  int64_t vDim() const;
  DType queryDType() const;
  DType cacheDType() const; ///< of a prefill kernel's key; u8 of records
  /// Elements of a cached row: qkDim(), or the bytes of a record.
  int64_t cacheDim() const;
  DType outDType() const;
  Layout layout() const;
  bool causal() const;
  /// Tokens before a query's own position that it sees; -1: all of them.
  int64_t window() const;
  LseBase lse() const;
  /// Names of the f32 scalars that run() needs, in order of declaration.
  std::span<const std::string> scalars() const;
  /// Names of the head values that run() needs, such as slopes and sinks, in order of declaration.
  std::span<const std::string> headValues() const;

  /// Throws Error configMismatch, capacityMissing, capacityExceeded, blockCount or tooLarge for what
  /// prepare() would refuse; `blocks` must be given.
  void check(const Config &config) const;
  /// Whether check() passes; `why` gets its message.
  bool supports(const Config &config, std::string *why = nullptr) const;
  /// The bytes of workspace that a plan needs, exactly. Throws as check(). 0 for a kernel that is never
  /// split, as prefill.
  size_t workspaceSize(const Config &config) const;

  const KernelInfo &info() const { return *kernel; }

protected:
  KernelDescription() = default;
  std::shared_ptr<const KernelInfo> kernel;
  std::shared_ptr<const std::vector<std::string>> scalarNames, headValueNames;
};

/// Device memory of the caller. Needs no particular contents and keeps none: any number of plans may use the
/// same one as long as their runs do not overlap. Aligned to 256 bytes. Nothing beyond `bytes` is touched.
struct Workspace {
  DevicePtr data = 0;
  size_t bytes = 0;
};

/// The lengths of a batch, in host memory; read during plan() only.
struct Lengths {
  std::span<const int32_t>
      qIndptr; ///< [batch + 1]: request r has query tokens qIndptr[r] .. qIndptr[r + 1] - 1
  std::span<const int32_t> kvLen; ///< [batch]: cached tokens of each request; 0 is legal
  // A paged cache.
  int32_t pageSize = 0;     ///< tokens of a page
  int64_t tableColumns = 0; ///< page-table entries of a request
  int64_t pages = 0;        ///< pages of the pool
  // A ragged cache, or the keys and values of prefill.
  std::span<const int32_t> cacheIndptr; ///< [batch + 1]; differences must equal kvLen
};

/// The lengths of a batch in device memory, for plans that are made there. Read when the planner runs.
struct DeviceLengths {
  int64_t requests = 0;
  DevicePtr qIndptr = 0; ///< i32[requests + 1]
  DevicePtr kvLen = 0;   ///< i32[requests]; 0 pads a batch
  /// Rows of the query tensor: at least qIndptr[requests]. Rows from there on are neither read nor written.
  int64_t queryRows = 0;
  // A paged cache.
  int32_t pageSize = 0;
  int64_t tableColumns = 0;
  int64_t pages = 0;
  // A ragged cache.
  DevicePtr cacheIndptr = 0; ///< i32[requests + 1]
};

/// A query or output, or a key or value of prefill: element (token, head, d) lies at data + (token * strideToken +
/// head * strideHead + d) elements. An LSE is f32 and has no last dimension.
struct Tensor {
  DevicePtr data = 0; ///< may be 0 where there is no row
  DType dtype = DType::f32;
  int64_t rows = 0; ///< tokens; exactly qIndptr[batch] of the plan, of key and value cacheIndptr[batch]
  int64_t heads = 0;
  int64_t dim = 0;
  int64_t strideToken = 0;
  int64_t strideHead = 0;
};

/// Cached rows. Paged: token t of request r lies at data + (table[r * tableStride + t / pageSize] *
/// stridePage + t % pageSize * strideToken) elements. Ragged: at data + (indptr[r] + t) * strideToken
/// elements. Records are u8: strides count bytes, and `dim` is the bytes of one.
///
/// Table entries past a request's length are never read; rows past it never reach arithmetic.
struct Cache {
  DevicePtr data = 0;
  DType dtype = DType::f32;
  int64_t dim = 0;
  int64_t strideToken = 0;
  // Paged.
  int64_t pages = 0;
  int32_t pageSize = 0;
  int64_t stridePage = 0;
  DevicePtr table = 0; ///< i32[batch][tableStride], device memory
  int64_t tableStride = 0;
  // Ragged.
  DevicePtr indptr = 0; ///< i32[batch + 1], device memory
  // Of records whose scales lie apart: rows of scales, found as the records are; strides in bytes.
  DevicePtr scales = 0;
  int64_t strideScalePage = 0;
  int64_t strideScaleToken = 0;
};

/// A named f32 of the kernel; finite, and above 0 if it is a scale of scores or values.
struct Scalar {
  std::string_view name;
  float value = 0;
};

/// A named list of the kernel, an f32 for each of its heads, head after head in device memory. Any values; an
/// infinity means what it does in the formula that the program writes.
struct HeadValues {
  std::string_view name;
  DevicePtr data = 0;
  int64_t heads = 0;
};

struct Operands {
  Tensor query;
  Cache cache; ///< of a decode kernel
  Tensor out;
  Tensor lse; ///< ignored if the kernel has none
  std::span<const Scalar> scalars;
  std::span<const HeadValues> headValues;
  Tensor key, value; ///< of a prefill kernel
};

/// What a plan decided, for logs and tests. Of a plan made on the device only the launches are known; the
/// rest is -1.
struct PlanStats {
  int64_t grid = 0;
  int64_t combineGrid = 0;
  int64_t items = 0;
  int64_t tiles = 0; ///< (row tile, KV tile) pairs
  int64_t skippedTiles = 0; ///< pairs outside of the kernel's window, which are not visited
  int64_t splits = 0;
  int64_t slots = 0;
};

/// Device buffers, at fixed addresses, for the lengths and the schedule of one batch after another. Made by
/// Kernel::prepare(). Holds the kernel and the device. One thread at a time; different plans may be used by
/// different threads.
class BatchPlan {
public:
  BatchPlan(BatchPlan &&) noexcept;
  BatchPlan &operator=(BatchPlan &&) noexcept;
  ~BatchPlan();

  /// Checks the lengths, splits the work evenly and queues one copy of it on the stream. Returns before the
  /// copy is done; earlier runs may still be queued on that stream, and see their own plan. Not to be
  /// captured: a replay sees the plan made last before it. Throws Error (the codes under "Plans",
  /// capacityExceeded, streamCapturing).
  void plan(const Lengths &lengths, Stream stream = 0);

  /// Queues a launch that plans the batch on the device; nothing is copied in either direction. May be
  /// captured, also together with run(): each replay then plans what the arrays hold at that time. The lists
  /// are those of plan(). Needs Config::graph. What is wrong with the lengths, or beyond a capacity, is known
  /// to the device alone: the plan is then empty, its run() writes nothing, and the next plan(),
  /// planOnDevice(), run() or checkDevice() on the host throws what plan() would have. Throws Error
  /// entryMissing for artefacts without a planner, configMismatch without Config::graph, operandNull,
  /// operandAlignment, capacityExceeded, pageSize, tableGeometry or poolSize.
  void planOnDevice(const DeviceLengths &lengths, Stream stream = 0);

  /// Throws what a planner on the device has reported since this was last asked. Waits for nothing:
  /// synchronise first to know about a particular launch.
  void checkDevice();

  /// Queues the launches for the batch planned last. Allocates nothing, makes no other driver call than the
  /// launches and may be captured, also as the first run. A captured run keeps the operands' addresses,
  /// strides and scalars; with Config::graph it serves any later plan. Throws Error notPlanned,
  /// operandMismatch, operandNull, operandAlignment, scaleValue, missingOperand, and pageEntry with
  /// Config::checkTables.
  void run(const Operands &operands, Stream stream = 0);

  /// The checks of run() alone.
  void checkOperands(const Operands &operands) const;

  PlanStats stats() const;
  Device &device() const;

private:
  friend class Kernel;
  struct Impl;
  explicit BatchPlan(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// A result of attention over some of a context: outputs and their log-sum-exps in the kernel's base.
struct State {
  Tensor out; ///< of the kernel's output dtype, heads and value dim
  Tensor lse; ///< f32
};

/// A kernel on a device. A handle: copies share the loaded code, which is unloaded with the last of them and
/// of their plans. May be used from several threads.
class Kernel : public KernelDescription {
public:
  /// States that one launch of merge() takes. Of more, every launch's result is a state of the next.
  static constexpr int statesPerLaunch = 8;

  /// Loads an artefact's PTX into the device. Throws as KernelDescription::read(), and imageRefused with the
  /// driver's log.
  static Kernel load(std::shared_ptr<Device> device, std::string_view artefact, std::string_view name = {});

  Device &device() const;

  /// As KernelDescription's, with the device's number of blocks where `config` leaves it open.
  void check(const Config &config) const;
  bool supports(const Config &config, std::string *why = nullptr) const;
  size_t workspaceSize(const Config &config) const;

  /// Everything that plan() and run() need later. Throws as check(), and workspaceSize or workspaceAlignment.
  BatchPlan prepare(const Config &config, Workspace workspace) const;

  /// Merges any number of results over disjoint parts of the contexts into `into`, which may be one of them.
  /// More than `statesPerLaunch` take several launches, between which `into` holds the result so far, rounded
  /// to its type. A state whose LSE is -inf contributes nothing, whatever its output holds; if all are, the
  /// output is 0 and the LSE -inf. One state that is not empty comes out with its own bits. May be captured.
  /// Throws Error mergeCount, operandMismatch, operandNull, operandAlignment, or entryMissing for a kernel
  /// without an LSE.
  void merge(std::span<const State> states, const State &into, Stream stream = 0) const;

private:
  friend class BatchPlan;
  struct Loaded;
  std::shared_ptr<Loaded> loaded;
};

} // namespace mla
