//===- Hooks.cpp - The table of hooks, and the simple ones ----------------===//

#include "runtime/emulator/Hooks.h"
#include "runtime/emulator/Executor.h"

using namespace mla::emulator;

extern "C" {

uint32_t mlac_emu_sreg(uint32_t which) { return currentExecutor().specialRegister(which); }
void *mlac_emu_shared_base(void) { return currentExecutor().sharedBase(); }

void mlac_emu_load(const void *p, uint32_t bytes, const char *site) {
  currentExecutor().load(p, bytes, site);
}
void mlac_emu_store(void *p, uint32_t bytes, const char *site) { currentExecutor().store(p, bytes, site); }

uint32_t mlac_emu_atomic_add(void *p, uint32_t v, const char *site) {
  return currentExecutor().atomicAdd(p, v, site);
}
uint32_t mlac_emu_atomic_cas(void *p, uint32_t cmp, uint32_t v, const char *site) {
  return currentExecutor().atomicCas(p, cmp, v, site);
}
// Memory is sequentially consistent here, and a fence alone orders no two threads.
void mlac_emu_fence(const char *) {}

void mlac_emu_grid_launch(const char *) {}
void mlac_emu_grid_wait(const char *) { currentExecutor().gridWait(); }

void mlac_emu_barrier(uint32_t id, uint32_t threads, const char *site) {
  currentExecutor().barrier(id, threads, site);
}
void mlac_emu_barrier_arrive(uint32_t id, uint32_t threads, const char *site) {
  currentExecutor().barrierArrive(id, threads, site);
}

void mlac_emu_cp_async(void *dst, const void *src, uint32_t bytes, uint32_t srcBytes, const char *site) {
  currentExecutor().copyAsync(dst, src, bytes, srcBytes, site);
}
void mlac_emu_cp_commit(const char *) { currentExecutor().copyCommit(); }
void mlac_emu_cp_wait(uint32_t pending, const char *) { currentExecutor().copyWait(pending); }

void mlac_emu_mbarrier_init(void *p, uint32_t count, const char *site) {
  currentExecutor().mbarrierInit(p, count, site);
}
void mlac_emu_mbarrier_arrive(void *p, const char *site) { currentExecutor().mbarrierArrive(p, 0, site); }
void mlac_emu_mbarrier_arrive_expect_tx(void *p, uint32_t bytes, const char *site) {
  currentExecutor().mbarrierArrive(p, bytes, site);
}
uint32_t mlac_emu_mbarrier_try_wait(void *p, uint32_t parity, const char *site) {
  currentExecutor().mbarrierWait(p, parity, site);
  return 1;
}
void mlac_emu_cp_async_bulk(void *dst, const void *src, uint32_t bytes, void *mbar, const char *site) {
  currentExecutor().copyBulk(dst, src, bytes, mbar, site);
}
void mlac_emu_cp_async_mbarrier_arrive_noinc(void *mbar, const char *site) {
  currentExecutor().mbarrierArriveAfterCopies(mbar, site);
}
}

template <typename Function>
static Hook hook(const char *symbol, Function *function) {
  return {symbol, reinterpret_cast<void *>(function)};
}

std::span<const Hook> mla::emulator::hooks() {
#define MLAC_HOOK(name) hook(#name, name)
  static const Hook all[] = {
      MLAC_HOOK(mlac_emu_sreg),
      MLAC_HOOK(mlac_emu_shared_base),
      MLAC_HOOK(mlac_emu_load),
      MLAC_HOOK(mlac_emu_store),
      MLAC_HOOK(mlac_emu_atomic_add),
      MLAC_HOOK(mlac_emu_atomic_cas),
      MLAC_HOOK(mlac_emu_fence),
      MLAC_HOOK(mlac_emu_grid_launch),
      MLAC_HOOK(mlac_emu_grid_wait),
      MLAC_HOOK(mlac_emu_barrier),
      MLAC_HOOK(mlac_emu_barrier_arrive),
      MLAC_HOOK(mlac_emu_warp_sync),
      MLAC_HOOK(mlac_emu_shfl),
      MLAC_HOOK(mlac_emu_vote),
      MLAC_HOOK(mlac_emu_ldmatrix),
      MLAC_HOOK(mlac_emu_mma),
      MLAC_HOOK(mlac_emu_cp_async),
      MLAC_HOOK(mlac_emu_cp_commit),
      MLAC_HOOK(mlac_emu_cp_wait),
      MLAC_HOOK(mlac_emu_mbarrier_init),
      MLAC_HOOK(mlac_emu_mbarrier_arrive),
      MLAC_HOOK(mlac_emu_mbarrier_arrive_expect_tx),
      MLAC_HOOK(mlac_emu_mbarrier_try_wait),
      MLAC_HOOK(mlac_emu_cp_async_bulk),
      MLAC_HOOK(mlac_emu_cp_async_mbarrier_arrive_noinc),
      MLAC_HOOK(mlac_emu_cvt_f16x2_e4m3x2),
      MLAC_HOOK(mlac_emu_cvt_f16x2_e5m2x2),
      MLAC_HOOK(mlac_emu_cvt_f16x2_f32),
      MLAC_HOOK(mlac_emu_cvt_bf16x2_f32),
      MLAC_HOOK(mlac_emu_cvt_f32_f16),
      MLAC_HOOK(mlac_emu_cvt_e4m3x2_f32),
      MLAC_HOOK(mlac_emu_cvt_e5m2x2_f32),
      MLAC_HOOK(mlac_emu_ex2),
      MLAC_HOOK(mlac_emu_lg2),
      MLAC_HOOK(mlac_emu_rcp),
      MLAC_HOOK(mlac_emu_mul_bf16x2),
      MLAC_HOOK(mlac_emu_prmt),
  };
#undef MLAC_HOOK
  return all;
}
