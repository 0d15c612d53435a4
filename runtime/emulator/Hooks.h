//===- Hooks.h - What host-compiled kernels call ----------------*- C++ -*-===//
//
// Rules for the code that calls these:
//  - `site` is "op at file:line:col", must stay valid for as long as the launch, and may be null.
//  - Hooks do not return after a failure, and no exception passes through the caller: it needs no unwind
//  tables.
//  - loads and stores of allocas pass if they lie on the thread's own stack; every other address must be
//  global
//    memory of the launch or the block's shared memory. Loads of the parameter array must not be hooked.
//  - Only barriers, warp_sync and mbarriers order memory between threads. Shuffles, votes, ldmatrix, mma,
//  fences
//    and atomics do not: code that needs them to is wrong on a GPU as well.
//  - Races between plain accesses to shared memory are found whatever the order of execution. Not found:
//  races in
//    global memory; with an atomic that a later atomic of another thread hides; of the thread that issued a
//    cp.async with its own copy, once an mbarrier let that land; and between bulk copies on mbarriers whose
//    numbers, in the order of their initialisation, differ by a multiple of 32.
//  - A thread's stack has 64 KiB. A loop without memory accesses that never ends is not noticed.
//
//===----------------------------------------------------------------------===//
#ifndef MLAC_RUNTIME_EMULATOR_HOOKS_H
#define MLAC_RUNTIME_EMULATOR_HOOKS_H

#include <cstdint>

extern "C" {

/// which: 0 tid.x, 1 ctaid.x, 2 ntid.x, 3 nctaid.x, 4 laneid.
uint32_t mlac_emu_sreg(uint32_t which);

/// The block's dynamic shared memory, aligned to 1024 bytes.
void *mlac_emu_shared_base(void);

/// To be called right before each plain load and store.
void mlac_emu_load(const void *p, uint32_t bytes, const char *site);
void mlac_emu_store(void *p, uint32_t bytes, const char *site);

/// Relaxed 32-bit atomics; both return the old value. Other threads may run in between, so spin loops
/// progress.
uint32_t mlac_emu_atomic_add(void *p, uint32_t v, const char *site);
uint32_t mlac_emu_atomic_cas(void *p, uint32_t cmp, uint32_t v, const char *site);
void mlac_emu_fence(const char *site);

/// griddepcontrol.launch_dependents: of no consequence here, where launches run one after another.
void mlac_emu_grid_launch(const char *site);
/// griddepcontrol.wait. Before it, a thread of an overlapping launch may not touch what the launch before
/// wrote.
void mlac_emu_grid_wait(const char *site);

/// bar.sync and bar.arrive; threads == 0 means all threads of the block.
void mlac_emu_barrier(uint32_t id, uint32_t threads, const char *site);
void mlac_emu_barrier_arrive(uint32_t id, uint32_t threads, const char *site);

void mlac_emu_warp_sync(uint32_t mask, const char *site);

/// shfl.sync, kind: 0 idx, 1 up, 2 down, 3 bfly; `clamp` is PTX's operand c: clamp value and segment mask.
uint32_t mlac_emu_shfl(uint32_t kind, uint32_t mask, uint32_t value, uint32_t lane, uint32_t clamp,
                       const char *site);

/// vote.sync, kind: 0 all, 1 any, 2 ballot.
uint32_t mlac_emu_vote(uint32_t kind, uint32_t mask, uint32_t pred, const char *site);

/// ldmatrix.m8n8.x<num>[.trans].b16; writes `num` registers to `out`.
void mlac_emu_ldmatrix(uint32_t *out, const void *addr, uint32_t num, uint32_t trans, const char *site);

/// mma.sync with f32 accumulators, kind: 0 m16n8k16 f16, 1 m16n8k16 bf16, 2 m16n8k32 e4m3, 3 m16n8k32 e5m2.
/// `a` has 4 registers, `b` 2, `c` and `d` 4; `d` may be `c`. See Mma.h for the precision.
void mlac_emu_mma(float *d, const uint32_t *a, const uint32_t *b, const float *c, uint32_t kind,
                  const char *site);

/// cp.async of 4, 8 or 16 bytes, of which the last bytes - srcBytes are zero. The data is read and written at
/// the wait that covers its group; until then the destination may not be touched by anybody.
void mlac_emu_cp_async(void *dst, const void *src, uint32_t bytes, uint32_t srcBytes, const char *site);
void mlac_emu_cp_commit(const char *site);
/// cp.async.wait_group. For wait_all: commit, then wait for 0.
void mlac_emu_cp_wait(uint32_t pending, const char *site);

/// mbarrier objects are 8 bytes of shared memory; their value lives outside of it.
void mlac_emu_mbarrier_init(void *p, uint32_t count, const char *site);
void mlac_emu_mbarrier_arrive(void *p, const char *site);
void mlac_emu_mbarrier_arrive_expect_tx(void *p, uint32_t bytes, const char *site);
/// mbarrier.try_wait.parity. Returns 1, when the phase of that parity has completed: waits as long as it
/// takes.
uint32_t mlac_emu_mbarrier_try_wait(void *p, uint32_t parity, const char *site);

/// cp.async.bulk from global to shared memory, a multiple of 16 bytes. Lands when a thread waits on the
/// mbarrier and nothing else can run.
void mlac_emu_cp_async_bulk(void *dst, const void *src, uint32_t bytes, void *mbar, const char *site);
/// cp.async.mbarrier.arrive.noinc: arrives when all earlier cp.async of this thread have landed; they may now
/// land without a wait of this thread.
void mlac_emu_cp_async_mbarrier_arrive_noinc(void *mbar, const char *site);

/// Conversions. Packed registers hold the first named element in the high half; NaNs come out canonical.
uint32_t mlac_emu_cvt_f16x2_e4m3x2(uint32_t x);
uint32_t mlac_emu_cvt_f16x2_e5m2x2(uint32_t x);
uint32_t mlac_emu_cvt_f16x2_f32(float hi, float lo);
uint32_t mlac_emu_cvt_bf16x2_f32(float hi, float lo);
float mlac_emu_cvt_f32_f16(uint32_t x);
/// Saturating: infinities too become the largest finite number.
uint32_t mlac_emu_cvt_e4m3x2_f32(float hi, float lo);
uint32_t mlac_emu_cvt_e5m2x2_f32(float hi, float lo);

/// ex2.approx, lg2.approx and rcp.approx, correctly rounded; a GPU is within 2 ulp and may flush subnormals.
float mlac_emu_ex2(float x);
float mlac_emu_lg2(float x);
float mlac_emu_rcp(float x);

uint32_t mlac_emu_mul_bf16x2(uint32_t a, uint32_t b);
uint32_t mlac_emu_prmt(uint32_t a, uint32_t b, uint32_t sel);
}

#endif // MLAC_RUNTIME_EMULATOR_HOOKS_H
