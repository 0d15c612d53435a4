// The state of the buffer cast analysis: where the elements of each value come from.
#pragma once

#include "passes/BufferCastAnalysis.h"
#include "passes/BufferCastSizes.h"
#include "llvm/Support/Allocator.h"

#include <deque>

namespace mlac {

/// How elements came to a value: newest hop first, the buffer last.
struct HopChain {
  BufferHop hop;
  const HopChain *previous;
  unsigned length;
};

/// What is known of a value's elements.
struct Trace {
  mlir::Value buffer;    // where they were stored
  mlir::Type storage;    // as what
  mlir::Operation *cast; // their first conversion, or null
  const HopChain *hops;  // may be null
};

/// Told of what happens, once all traces are known.
class FlowRecorder {
public:
  virtual ~FlowRecorder() = default;
  /// Elements became `element` in a place as large as `destination`; `elements` of them, if that is known.
  virtual void copied(mlir::Operation *op, const Trace &before, const Trace &after, mlir::Value destination,
                      std::optional<int64_t> elements) = 0;
  virtual void converted(mlir::Operation *op, const Trace &after, mlir::Type element) = 0;
};

/// Whether storing `from` as `to` is a conversion. Between integers it is one only from 8 bits or fewer to
/// more: other integers are indices.
bool changesElements(mlir::Type from, mlir::Type to);

class BufferFlow {
public:
  BufferFlow(mlir::ModuleOp module, int64_t threshold);

  /// Follows all values until nothing changes.
  void run();
  /// Tells what all ops do, in their order. After run().
  void record(FlowRecorder &recorder);

  BufferCastSizes &sizes() { return valueSizes; }
  int64_t visits() const { return visited; }
  llvm::ArrayRef<mlir::Value> buffers() const { return roots; }

private:
  friend class FlowTransfer;

  const Trace *at(mlir::Value value) const { return traces.lookup(value); }
  void start();
  void startAt(mlir::Value value);
  void enqueue(mlir::Operation *op);
  bool improves(mlir::Value value, const Trace *old, const Trace &trace) const;
  bool update(mlir::Value value, const Trace &trace);
  const HopChain *extend(const HopChain *chain, BufferHop hop);

  /// `to` holds elements of `from`, come there by this step.
  void follow(mlir::Value from, mlir::Value to, BufferHop::Kind kind, mlir::Operation *op);
  /// The same without a step worth a note, as for a load.
  void pass(mlir::Value from, mlir::Value to);
  /// `to` holds elements of `from`, converted.
  void convert(mlir::Operation *op, mlir::Value from, mlir::Value to);
  /// `op` writes `value`, as elements of this type, into the memref or tensor; a tensor's new state is
  /// `result`.
  void write(mlir::Operation *op, mlir::Value value, mlir::Value destination, mlir::Value result,
             std::optional<int64_t> elements);
  void writeMemory(mlir::Value root, const Trace &trace);
  void addPassed(mlir::Value root, llvm::SmallVectorImpl<mlir::Value> &places);

  /// The memref that this is a view of.
  mlir::Value rootOf(mlir::Value memref);
  /// Values a token of the largest memory that an elementwise factor is read from; none if it is no factor.
  std::optional<int64_t> weightOf(mlir::Value value);
  std::optional<int64_t> findWeight(mlir::Value value);
  /// Whether elements stay what they are when the elementwise op combines them with `factor`.
  bool isScaleFor(const Trace &trace, mlir::Value factor, mlir::Operation *op);

  mlir::ModuleOp module;
  BufferCastCalls calls;
  BufferCastSizes valueSizes;
  FlowRecorder *recorder = nullptr;
  llvm::DenseMap<mlir::Value, const Trace *> traces;
  llvm::DenseMap<mlir::Value, unsigned> updates;
  llvm::DenseMap<mlir::Value, std::optional<int64_t>> weights;
  llvm::DenseMap<mlir::Value, mlir::Value> memoryRoots;
  llvm::SmallVector<mlir::Value> roots;
  /// Every memref.get_global of a symbol: they are one memory.
  llvm::DenseMap<mlir::StringAttr, llvm::SmallVector<mlir::Value, 2>> globals;
  std::deque<mlir::Operation *> queue;
  llvm::DenseMap<mlir::Operation *, bool> isQueued;
  llvm::BumpPtrAllocator memory;
  int64_t visited = 0;
  unsigned depth = 0;
};

/// What each op does to the traces of its operands.
class FlowTransfer {
public:
  explicit FlowTransfer(BufferFlow &flow) : flow(flow) {}
  void visit(mlir::Operation *op);

private:
  bool visitMla(mlir::Operation *op);
  bool visitConversion(mlir::Operation *op);
  bool visitView(mlir::Operation *op);
  bool visitLoad(mlir::Operation *op);
  bool visitStore(mlir::Operation *op);
  bool visitTensor(mlir::Operation *op);
  bool visitVector(mlir::Operation *op);
  bool visitElementwise(mlir::Operation *op);
  mlir::Value scaledOperand(mlir::Operation *op);
  bool visitStructured(mlir::Operation *op);
  bool visitYield(mlir::Operation *op);
  bool visitControlFlow(mlir::Operation *op);
  bool visitCall(mlir::Operation *op);
  void visitReturn(mlir::Operation *op);
  void forward(mlir::OperandRange from, mlir::ValueRange to, mlir::Operation *op);
  void branch(mlir::Operation *op);

  BufferFlow &flow;
};

/// Whether the analysis knows the dialect of this name.
bool isFollowedDialect(llvm::StringRef name);

} // namespace mlac
