// Planning on the device: makePlan() of runtime/Plan.cpp by one block, with the same words. Row tiles
// ("units") lie end to end on a line of KV tiles, the line is cut into one length a block, and each block's
// stretch is walked. Every thread takes a run of neighbouring requests, units, cuts or blocks; what came
// before its run it learns by a sum over the threads.
#include "passes/nvvm/Loops.h"
#include "passes/nvvm/Lowering.h"
#include "runtime/Abi.h"

using namespace mlir;
using namespace mlac;

namespace {

using Status = ::mla::PlannerStatus;

/// A thread's run [begin, end) of something.
struct Run {
  Value begin, end;
};

/// Sums of i64 values over the threads before this one, and over all.
struct Sums {
  Values before, all;
};

class PlannerEmitter {
public:
  PlannerEmitter(Emitter &e, tile::PlanBatchOp op,
                 tile::PlanBatchOp::GenericAdaptor<ArrayRef<ValueRange>> adaptor)
      : e(e), batch(adaptor.getBatch()), plan(adaptor.getPlan()), rows(op.getRows()), tokens(op.getTokens()),
        heads(headsOf(op)), threads(op.getThreads()), causal(op.getCausal()), ragged(op.getRagged()),
        window(op.getWindow()), thread(e.thread()), fixed(e.equal(batch.fixedPieces, 1)),
        lead(e.select(fixed, e.i64(0), e.i64((::mla::itemStartTokens + tokens - 1) / tokens))) {}

  void run() {
    placeScratch();
    readLengths();
    listUnits();
    cutLine();
    writeLists();
  }

private:
  //===-- Pieces --===//

  Value either(Value a, Value b) { return e.bitOr(a, b); }
  Value isNot(Value a) { return e.select(a, e.boolean(false), e.boolean(true)); }
  Value asNumber(Value flag) { return e.select(flag, e.i64(1), e.i64(0)); }
  Value div(Value a, Value b) { return arith::DivSIOp::create(e.builder, e.loc, a, b); }
  Value rem(Value a, Value b) { return arith::RemSIOp::create(e.builder, e.loc, a, b); }
  Value ceilDiv(Value a, int64_t b) { return e.divU(e.add(a, b - 1), b); }
  Value isFirstThread() { return e.equal(thread, 0); }
  void barrier() { e.call(Instr::BlockBarrier, e.i32(0)); }

  Run runOf(Value count) {
    Value each = ceilDiv(count, threads);
    Value begin = e.minS(e.mul(thread, each), count);
    return {begin, e.minS(e.add(begin, each), count)};
  }

  /// Where all threads meet: the sums double their reach from round to round.
  Sums sum(ArrayRef<Value> own) {
    Value shared = LLVM::AddressOfOp::create(e.builder, e.loc, e.ptr(kShared), kSharedSymbol);
    SmallVector<ArrayView> arrays;
    for (size_t i = 0; i < own.size(); ++i)
      arrays.push_back({e.offset(shared, int64_t(i) * threads * 8), e.i64()});
    Values upTo(own);
    barrier(); // the last sum has been read
    for (auto [array, value] : llvm::zip(arrays, upTo))
      array.store(e, value, thread);
    barrier();
    for (int64_t reach = 1; reach < threads; reach *= 2) {
      Value inside = isNot(e.less(thread, reach)), from = e.select(inside, e.add(thread, -reach), e.i32(0));
      for (auto [array, value] : llvm::zip(arrays, upTo))
        value = e.add(value, e.select(inside, array.load(e, from), e.i64(0)));
      barrier();
      for (auto [array, value] : llvm::zip(arrays, upTo))
        array.store(e, value, thread);
      barrier();
    }
    Sums sums;
    for (auto [array, value, mine] : llvm::zip(arrays, upTo, own)) {
      sums.before.push_back(e.sub(value, mine));
      sums.all.push_back(array.load(e, e.i32(threads - 1)));
    }
    return sums;
  }

  /// See PlannerStatus. One store, so that a reader never finds half of it.
  Value packed(Status status, Value index, Value value) {
    Value high = e.add(index, int64_t(status) << 28);
    return e.bitOr(e.mul(e.widenUnsigned(high), int64_t(1) << 32), e.widenUnsigned(value));
  }

  void placeScratch() {
    auto words = [&](Value count) { return e.add(e.divU(count, 2), 1); }; // of count + 1 i32
    Value cutBytes = e.mul(e.widen(e.add(batch.blocks, 1)), 8);
    unitFirst = {batch.scratch, e.i32()};
    rawCuts = {e.offset(batch.scratch, e.mul(e.widen(words(batch.requests)), 8)), e.i64()};
    cuts = {e.offset(rawCuts.data, cutBytes), e.i64()};
    unitStart = {e.offset(cuts.data, cutBytes), e.i64()};
    indptr = {plan.queryIndptr, e.i32()};
    lengths = {plan.kvLen, e.i32()};
    workIndptr = {plan.workIndptr, e.i32()};
  }

  //===-- Requests --===//

  Value unitsOf(Value queryBegin, Value queryEnd) {
    return ceilDiv(e.mul(e.sub(queryEnd, queryBegin), heads), rows);
  }

  /// What is wrong with request `r`, packed; 0 if nothing. The first of several in the order of
  /// PlannerStatus.
  Value problemOf(Value r, Value queryBegin, Value queryEnd, Value kvLen) {
    Value next = e.add(r, 1), problem = e.i64(0);
    auto check = [&](Value wrong, Status status, Value index, Value value) {
      problem = e.select(wrong, packed(status, index, value), problem);
    };
    if (ragged) {
      ArrayView cache{batch.cacheIndptr, e.i32()};
      Value stored = e.sub(cache.load(e, next), cache.load(e, r));
      check(isNot(e.equal(e.sub(stored, kvLen), 0)), Status::kvLenMismatch, r, kvLen);
    }
    check(e.less(batch.mostTokens, kvLen), Status::kvLenBeyondTable, r, kvLen);
    check(e.less(kvLen, e.i32(0)), Status::kvLenNegative, r, kvLen);
    check(e.less(batch.mostRows, queryEnd), Status::queryRows, next, queryEnd);
    check(e.less(queryEnd, queryBegin), Status::indptrOrder, next, queryEnd);
    check(e.both(e.equal(r, 0), isNot(e.equal(queryBegin, 0))), Status::indptrStart, r, queryBegin);
    return problem;
  }

  /// Checks and copies the lengths; counts units.
  void readLengths() {
    ArrayView givenIndptr{batch.queryIndptr, e.i32()}, givenLengths{batch.kvLen, e.i32()};
    Run run = runOf(batch.requests);
    Values found =
        forEach(e, run.begin, run.end, {e.i32(0), e.i64(0)}, [&](Value r, ValueRange carried) -> Values {
          Value next = e.add(r, 1);
          Value queryBegin = givenIndptr.load(e, r), queryEnd = givenIndptr.load(e, next),
                kvLen = givenLengths.load(e, r);
          indptr.store(e, queryEnd, next);
          lengths.store(e, kvLen, r);
          Value problem = problemOf(r, queryBegin, queryEnd, kvLen);
          Value good = isZero(problem), count = e.select(good, unitsOf(queryBegin, queryEnd), e.i32(0));
          return {e.add(carried[0], count), e.select(isZero(carried[1]), problem, carried[1])};
        });
    Value mine = isNot(isZero(found[1]));
    Sums sums = sum({e.widen(found[0]), asNumber(mine)});
    e.when(e.both(mine, isZero(sums.before[1])), [&] { e.store(found[1], batch.status, 8); });
    Value failed = isNot(isZero(sums.all[1]));
    unitCount = e.select(failed, e.i32(0), e.narrow(sums.all[0]));
    e.when(isFirstThread(), [&] {
      indptr.store(e, e.i32(0), e.i32(0));
      // Request 0's rows are read by merges past the last, also of an empty batch.
      e.when(either(failed, e.equal(batch.requests, 0)), [&] { indptr.store(e, e.i32(0), e.i32(1)); });
      unitFirst.store(e, unitCount, batch.requests);
    });
    forEach(e, run.begin, run.end, {e.narrow(sums.before[0])}, [&](Value r, ValueRange first) -> Values {
      unitFirst.store(e, first[0], r);
      return {e.add(first[0], unitsOf(givenIndptr.load(e, r), givenIndptr.load(e, e.add(r, 1))))};
    });
    barrier();
  }

  Value isZero(Value wide) { return isNot(either(e.less(wide, e.i64(0)), e.less(e.i64(0), wide))); }

  //===-- Units --===//

  /// The request of a unit.
  Value requestOf(Value unit) { return e.add(unitFirst.countUpTo(e, batch.requests, unit), -1); }

  /// The request of a unit, from that of an earlier one.
  Value advance(Value request, Value unit) {
    return whileTrue(
               e, {request},
               [&](ValueRange r) { return e.lessOrEqual(unitFirst.load(e, e.add(r[0], 1)), unit); },
               [&](ValueRange r) -> Values { return {e.add(r[0], 1)}; })
        .front();
  }

  Value rowBeginOf(Value request, Value unit) { return e.mul(e.sub(unit, unitFirst.load(e, request)), rows); }

  /// KV tiles that a unit's rows can see: [first, first + count). Those before lie outside of the window.
  struct Tiles {
    Value first, count;
  };

  Tiles tilesOf(Value request, Value unit) {
    Value kvLen = lengths.load(e, request), visible = kvLen, hidden = e.i32(0);
    Value queries = e.sub(indptr.load(e, e.add(request, 1)), indptr.load(e, request));
    if (causal) {
      Value rowEnd = e.minS(e.add(rowBeginOf(request, unit), rows), e.mul(queries, heads));
      Value lastToken = e.divU(e.add(rowEnd, -1), heads);
      visible = e.minS(e.maxS(e.add(lastToken, e.add(e.sub(kvLen, queries), 1)), e.i32(0)), kvLen);
    }
    if (window) {
      Value position = e.add(e.divU(rowBeginOf(request, unit), heads), e.sub(kvLen, queries));
      // In 64 bits: a window may be longer than any context.
      Value before = e.maxS(e.add(e.widen(position), -*window), e.i64(0));
      hidden = e.narrow(e.minS(before, e.widen(kvLen)));
    }
    Value end = ceilDiv(visible, tokens), first = e.minS(e.divU(hidden, tokens), end);
    return {first, e.sub(end, first)};
  }

  /// Where each unit starts on the line, as long as its tiles and its item's start; an empty unit still has
  /// an output to write.
  void listUnits() {
    Run run = runOf(unitCount);
    Value splitting = e.less(e.i32(0), batch.leastPiece), least = e.widen(e.maxS(batch.leastPiece, e.i32(1)));
    Value zero = e.i64(0), one = e.i64(1);
    Values own = forEach(
        e, run.begin, run.end, {requestOf(run.begin), zero, zero, zero},
        [&](Value unit, ValueRange carried) -> Values {
          Value request = advance(carried[0], unit);
          Value tiles = e.widen(tilesOf(request, unit).count), length = e.maxS(e.add(tiles, lead), one);
          unitStart.store(e, length, unit);
          Value pieces = e.select(splitting, e.maxS(div(tiles, least), one), one);
          Value most = e.select(splitting, e.maxS(tiles, one), one);
          return {request, e.add(carried[1], length), e.add(carried[2], pieces), e.add(carried[3], most)};
        });
    Sums sums = sum({own[1], own[2], own[3]});
    forEach(e, run.begin, run.end, {sums.before[0]}, [&](Value unit, ValueRange start) -> Values {
      Value length = unitStart.load(e, unit);
      unitStart.store(e, start[0], unit);
      return {e.add(start[0], length)};
    });
    lineLength = sums.all[0];
    chooseLeast(splitting, least, sums.all[1], sums.all[2]);
    e.when(isFirstThread(), [&] { unitStart.store(e, lineLength, unitCount); });
    barrier();
  }

  /// Where blocks would stand idle, single tiles are worth a merge.
  void chooseLeast(Value splitting, Value least, Value pieces, Value most) {
    Value idle = e.both(e.less(pieces, e.widen(batch.blocks)), e.both(splitting, isNot(fixed)));
    leastPiece = e.select(splitting, e.select(idle, e.i64(1), least), e.i64(0));
    sensiblePieces = e.select(idle, most, pieces);
  }

  Value unitAt(Value position) { return e.add(unitStart.countUpTo(e, unitCount, position), -1); }

  /// The length of a request's fixed pieces, in KV tiles.
  Value fixedPieceOf(Value request) {
    Value reach = lengths.load(e, request);
    if (causal && window) { // what a window covers, rounded up to where its tiles start
      int64_t most = *window + (rows + heads - 1) / heads + 1 + tokens;
      reach = e.minS(reach, e.i32(std::min<int64_t>(most, std::numeric_limits<int32_t>::max())));
    }
    Value tiles = ceilDiv(reach, tokens);
    return e.widen(e.maxS(ceilDiv(tiles, ::mla::fixedPieces), e.i32(::mla::leastFixedPiece)));
  }

  //===-- Cuts --===//

  /// Where a unit lies on the line.
  struct Extent {
    Value unit, start, end;
  };

  Extent extentAt(Value position) {
    Value unit = unitAt(position);
    return {unit, unitStart.load(e, unit), unitStart.load(e, e.add(unit, 1))};
  }

  Value nearestBoundary(const Extent &unit, Value position) {
    return e.select(e.lessOrEqual(e.sub(position, unit.start), e.sub(unit.end, position)), unit.start,
                    unit.end);
  }

  /// The cut near `position` that leaves no piece below the least, or that ends a fixed piece.
  Value moved(Value position) {
    Extent unit = extentAt(position);
    return e
        .choose(
            fixed,
            [&]() -> Values {
              Value piece = fixedPieceOf(requestOf(unit.unit)), before = e.sub(position, unit.start);
              Value pieces = div(e.add(before, div(piece, e.i64(2))), piece);
              return {e.minS(e.add(unit.start, e.mul(pieces, piece)), unit.end)};
            },
            [&]() -> Values {
              Value before = e.sub(position, e.add(unit.start, lead)), behind = e.sub(unit.end, position);
              Value stays = e.both(e.lessOrEqual(leastPiece, before), e.lessOrEqual(leastPiece, behind));
              return {e.select(stays, position, nearestBoundary(unit, position))};
            })
        .front();
  }

  void cutLine() {
    Value count = e.narrow(e.minS(e.widen(batch.blocks), sensiblePieces)),
          wide = e.maxS(e.widen(count), e.i64(1));
    Value rest = e.sub(lineLength, lead), quotient = div(rest, wide), remainder = rem(rest, wide);
    auto even = [&](Value block) {
      Value scaled = e.widen(block);
      return e.add(lead, e.add(e.mul(quotient, scaled), div(e.mul(remainder, scaled), wide)));
    };
    Run run = runOf(count);
    Value whole = staysWhole(run, even, div(e.add(lineLength, e.add(wide, -1)), wide));
    forEach(e, run.begin, run.end, {}, [&](Value i, ValueRange) -> Values {
      Value block = e.add(i, 1), position = even(block), last = e.equal(e.sub(block, count), 0);
      Value cut = e.choose(
          whole, [&]() -> Values { return {nearestBoundary(extentAt(position), position)}; },
          [&]() -> Values { return {moved(position)}; })[0];
      rawCuts.store(e, e.select(last, lineLength, cut), block);
      return {};
    });
    e.when(isFirstThread(), [&] { rawCuts.store(e, e.i64(0), e.i32(0)); });
    barrier();
    joinCuts(run);
  }

  /// No splitting, or blocks of whole units take at most as much more than even ones as a merge costs.
  Value staysWhole(Run run, function_ref<Value(Value)> even, Value longest) {
    Value most = e.add(longest, (::mla::mergeTokens(rows) + tokens - 1) / tokens);
    auto boundary = [&](Value block) {
      Value position = even(block);
      return e.select(e.equal(block, 0), e.i64(0), nearestBoundary(extentAt(position), position));
    };
    Value above = forEach(e, run.begin, run.end, {e.i64(0)}, [&](Value i, ValueRange counted) -> Values {
                    Value load = e.sub(boundary(e.add(i, 1)), boundary(i));
                    return {e.add(counted[0], asNumber(e.less(most, load)))};
                  }).front();
    Value isEven = e.both(isZero(sum({above}).all[0]), isNot(fixed));
    return either(isEven, isZero(leastPiece));
  }

  /// Cuts ascend; of equal ones the first stays, so that every block has work.
  void joinCuts(Run run) {
    auto stays = [&](Value i) { return e.less(rawCuts.load(e, i), rawCuts.load(e, e.add(i, 1))); };
    Value own = forEach(e, run.begin, run.end, {e.i64(0)}, [&](Value i, ValueRange kept) -> Values {
                  return {e.add(kept[0], asNumber(stays(i)))};
                }).front();
    Sums sums = sum({own});
    forEach(e, run.begin, run.end, {e.narrow(sums.before[0])}, [&](Value i, ValueRange kept) -> Values {
      Value next = e.add(kept[0], e.narrow(asNumber(stays(i))));
      e.when(stays(i), [&] { cuts.store(e, rawCuts.load(e, e.add(i, 1)), next); });
      return {next};
    });
    e.when(isFirstThread(), [&] { cuts.store(e, e.i64(0), e.i32(0)); });
    grid = e.narrow(sums.all[0]);
    barrier();
  }

  //===-- Work items --===//

  /// Where a walk over the line is: its unit and request, and the items, slots and merges so far.
  struct Place {
    Value unit, request, items, slots, merges;
    explicit Place(ValueRange v) : unit(v[0]), request(v[1]), items(v[2]), slots(v[3]), merges(v[4]) {}
    Values pack() const { return {unit, request, items, slots, merges}; }
  };

  /// A piece of a unit, from `begin` on.
  struct Piece {
    Value begin, end, unitStart, unitEnd, whole, opens, closes;
  };

  Piece pieceAt(const Place &place, Value begin, Value end) {
    Piece piece{begin, end, unitStart.load(e, place.unit), unitStart.load(e, e.add(place.unit, 1)), {},
                {},    {}};
    Value atMost = e.choose(
        fixed,
        [&]() -> Values {
          Value length = fixedPieceOf(place.request);
          return {
              e.minS(e.sub(e.add(begin, length), rem(e.sub(begin, piece.unitStart), length)), piece.unitEnd)};
        },
        [&]() -> Values { return {piece.unitEnd}; })[0];
    piece.end = e.minS(end, atMost);
    Value starts = e.lessOrEqual(begin, piece.unitStart), ends = e.lessOrEqual(piece.unitEnd, piece.end);
    piece.whole = e.both(starts, ends);
    piece.opens = e.both(starts, isNot(ends));
    piece.closes = e.both(ends, isNot(starts));
    return piece;
  }

  void writeItem(const Place &place, const Piece &piece) {
    Value rowBegin = rowBeginOf(place.request, place.unit);
    Tiles tiles = tilesOf(place.request, place.unit);
    auto tileAt = [&](Value position) {
      Value within = e.narrow(e.sub(position, e.add(piece.unitStart, lead)));
      return e.add(tiles.first, e.minS(e.maxS(within, e.i32(0)), tiles.count));
    };
    Value tileBegin = tileAt(piece.begin), tileEnd = tileAt(piece.end);
    Value slot = e.select(piece.whole, e.i32(-1), place.slots), zero = e.i32(0);
    Value item = e.offset(plan.work, e.mul(e.widen(place.items), sizeof(::mla::WorkItem)));
    e.storeVector({place.request, rowBegin, tileBegin, tileEnd}, item);
    Value queryBegin = indptr.load(e, place.request);
    Value rows = e.mul(e.sub(indptr.load(e, e.add(place.request, 1)), queryBegin), heads);
    e.storeVector({slot, queryBegin, rows, lengths.load(e, place.request)}, e.offset(item, 16));
    e.storeVector({zero, zero, zero, zero}, e.offset(item, 32));
    // A merge is opened by its first piece and closed by its last, perhaps another thread's: neither writes
    // the other's fields.
    e.when(piece.opens, [&] {
      e.storeVector({place.request, rowBegin}, mergeAt(place.merges));
      e.store(place.slots, e.offset(mergeAt(place.merges), 8), 4);
    });
    e.when(piece.closes,
           [&] { e.store(e.add(place.slots, 1), e.offset(mergeAt(e.add(place.merges, -1)), 12), 4); });
  }

  Value mergeAt(Value index) {
    return e.offset(plan.merges, e.mul(e.widen(index), sizeof(::mla::MergeItem)));
  }

  /// The pieces of a block's stretch of the line.
  Place walk(const Place &from, Value begin, Value end, bool writing) {
    Values carried{begin};
    llvm::append_range(carried, from.pack());
    Values reached = whileTrue(
        e, carried, [&](ValueRange v) { return e.less(v[0], end); },
        [&](ValueRange v) -> Values {
          Place place(v.drop_front());
          place.request = advance(place.request, place.unit);
          Piece piece = pieceAt(place, v[0], end);
          if (writing)
            writeItem(place, piece);
          auto count = [&](Value number, Value flag) {
            return e.add(number, e.select(flag, e.i32(1), e.i32(0)));
          };
          Value unit = count(place.unit, e.lessOrEqual(piece.unitEnd, piece.end));
          return {piece.end,
                  unit,
                  place.request,
                  e.add(place.items, 1),
                  count(place.slots, isNot(piece.whole)),
                  count(place.merges, piece.opens)};
        });
    return Place(ValueRange(reached).drop_front());
  }

  Place walkBlocks(Run run, const Place &from, bool writing) {
    return Place(forEach(e, run.begin, run.end, from.pack(), [&](Value block, ValueRange carried) -> Values {
      if (writing)
        workIndptr.store(e, Place(carried).items, block);
      return walk(Place(carried), cuts.load(e, block), cuts.load(e, e.add(block, 1)), writing).pack();
    }));
  }

  /// Counts first, so that each thread knows where to write, and nothing is written if a list is too short.
  void writeLists() {
    Run run = runOf(grid);
    Value unit = unitAt(cuts.load(e, run.begin)), request = requestOf(unit), zero = e.i32(0);
    Place own = walkBlocks(run, Place(Values{unit, request, zero, zero, zero}), /*writing=*/false);
    Sums sums = sum({e.widen(own.items), e.widen(own.slots), e.widen(own.merges)});
    Value problem = capacityProblem(sums.all), fits = isZero(problem);
    Values from{unit, request};
    for (Value before : sums.before)
      from.push_back(e.narrow(before));
    run.end = e.select(fits, run.end, run.begin);
    walkBlocks(run, Place(from), /*writing=*/true);
    auto ifFits = [&](Value number) { return e.select(fits, number, zero); };
    fillRest(ifFits(grid), ifFits(e.narrow(sums.all[0])), ifFits(e.narrow(sums.all[2])));
    e.when(e.both(isFirstThread(), isNot(fits)), [&] {
      e.store(problem, batch.status, 8);
      indptr.store(e, zero, e.i32(1));
    });
  }

  Value capacityProblem(ArrayRef<Value> totals) {
    Value problem = e.i64(0);
    auto check = [&](Value total, Value most, Status status) {
      problem = e.select(e.less(e.widen(most), total), packed(status, e.i32(0), e.narrow(total)), problem);
    };
    check(totals[2], batch.merges, Status::merges);
    check(totals[1], batch.slots, Status::slots);
    check(totals[0], batch.items, Status::items);
    return problem;
  }

  /// Blocks past the plan's find an empty range, merges past its last a row that no request has.
  void fillRest(Value usedBlocks, Value items, Value usedMerges) {
    Value zero = e.i32(0), noRow = e.i32(0x7fffffff - rows);
    forEach(
        e, e.add(usedBlocks, thread), e.add(batch.blocks, 1), {},
        [&](Value i, ValueRange) -> Values { return workIndptr.store(e, items, i), Values(); }, threads);
    forEach(
        e, e.add(usedMerges, thread), batch.merges, {},
        [&](Value i, ValueRange) -> Values {
          return e.storeVector({zero, noRow, zero, zero}, mergeAt(i)), Values();
        },
        threads);
  }

  Emitter &e;
  BatchView batch;
  PlanView plan;
  int64_t rows, tokens, heads, threads;
  bool causal, ragged;
  std::optional<int64_t> window;
  Value thread, fixed, lead;
  ArrayView unitFirst, rawCuts, cuts, unitStart, indptr, lengths, workIndptr;
  Value unitCount, lineLength, sensiblePieces, leastPiece, grid;
};

struct LowerPlanBatch : OpConversionPattern<tile::PlanBatchOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tile::PlanBatchOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op);
    PlannerEmitter(e, op, adaptor).run();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlac::populatePlanner(TileTypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<LowerPlanBatch>(converter, patterns.getContext());
}
