#include "passes/nvvm/Loops.h"

using namespace mlir;

namespace mlac {

Values forEach(Emitter &e, Value begin, Value end, Values carried, function_ref<Values(Value, ValueRange)> body,
               int64_t step) {
  auto loop = scf::ForOp::create(e.builder, e.loc, begin, end, e.i32(step), carried);
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty()) // a loop that carries nothing has its yield already
    scf::YieldOp::create(e.builder, e.loc, next);
  return Values(loop.getResults());
}

Values whileTrue(Emitter &e, Values carried, function_ref<Value(ValueRange)> condition,
                 function_ref<Values(ValueRange)> body) {
  auto loop = scf::WhileOp::create(
      e.builder, e.loc, ValueRange(carried).getTypes(), carried,
      [&](OpBuilder &, Location, ValueRange values) {
        scf::ConditionOp::create(e.builder, e.loc, condition(values), values);
      },
      [&](OpBuilder &, Location, ValueRange values) { scf::YieldOp::create(e.builder, e.loc, body(values)); });
  return Values(loop.getResults());
}

Value ArrayView::at(Emitter &e, Value index) const { return e.offset(data, e.mul(e.widen(index), bytes())); }
Value ArrayView::load(Emitter &e, Value index) const { return e.load(element, at(e, index), bytes()); }
void ArrayView::store(Emitter &e, Value value, Value index) const { e.store(value, at(e, index), bytes()); }

Value ArrayView::countUpTo(Emitter &e, Value count, Value value) const {
  return whileTrue(
             e, {e.i32(0), count}, [&](ValueRange range) { return e.less(range[0], range[1]); },
             [&](ValueRange range) -> Values {
               Value middle = e.shrU(e.add(range[0], range[1]), 1);
               Value beyond = e.less(value, load(e, middle));
               return {e.select(beyond, range[0], e.add(middle, 1)), e.select(beyond, middle, range[1])};
             })
      .front();
}

} // namespace mlac
