/* Decoding through the C API: two requests of 33 and 0 cached tokens, planned, run, captured and
 * replayed; then the same with lengths in device memory. */
#include "mla/mla.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(mla_status status, const char *what) {
  if (status == MLA_OK)
    return;
  fprintf(stderr, "error: %s: %s [%s]\n", what, mla_error_message(), mla_error_code());
  exit(1);
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = calloc(1, 1 << 20);
  if (!file || !text || fread(text, 1, (1 << 20) - 1, file) == 0) {
    fprintf(stderr, "error: cannot read %s\n", path);
    exit(1);
  }
  fclose(file);
  return text;
}

/* Device memory with `code` in every byte. */
static uint64_t filled(mla_device *device, size_t bytes, int code) {
  uint64_t address = 0;
  void *host = malloc(bytes);
  check(mla_device_allocate(device, bytes, &address), "allocate");
  memset(host, code, bytes);
  check(mla_device_copy_in(device, address, host, bytes), "copy in");
  free(host);
  return address;
}

static void print_lse(mla_device *device, uint64_t lse, int64_t heads, const char *what) {
  float values[2 * 128];
  check(mla_device_copy_out(device, values, lse, (size_t)(2 * heads) * sizeof(float)), "copy out");
  printf("%s: LSE %.4f and %.4f\n", what, values[0], values[heads]);
}

int main(int argc, char **argv) {
  int cuda = argc > 3 && strcmp(argv[2], "--device") == 0 && strcmp(argv[3], "cuda") == 0;
  mla_device *device = NULL;
  mla_kernel *kernel = NULL;
  mla_plan *plan = NULL;
  mla_graph *graph = NULL;
  if (argc < 2) {
    fprintf(stderr, "usage: %s PROGRAM.mla [--device emulator|cuda]\n", argv[0]);
    return 2;
  }
  check(cuda ? mla_cuda_device_create(0, &device) : mla_emulator_create(0, 4, &device), "device");
  char *source = read_file(argv[1]);
  check(mla_jit_load(device, source, NULL, &kernel), "load");
  free(source);

  mla_kernel_info info = {sizeof(info)};
  check(mla_kernel_describe(kernel, &info), "describe");
  mla_config config = {sizeof(config)};
  config.max_requests = config.max_query_rows = 2;
  config.graph = 1;
  size_t workspace_bytes = 0;
  check(mla_workspace_size(kernel, &config, &workspace_bytes), "workspace size");
  uint64_t workspace = filled(device, workspace_bytes + 1, 0xFF);
  check(mla_plan_create(kernel, &config, workspace, workspace_bytes, &plan), "plan");

  enum { page = 16, pages = 8 };
  int64_t h = info.heads, qk = info.qk_dim, v = info.v_dim;
  uint64_t cache = filled(device, (size_t)(pages * page * qk), 0x20),
           table = filled(device, 2 * pages * 4, 0);
  uint64_t query = filled(device, (size_t)(2 * h * qk * 2), 0x3C),
           out = filled(device, (size_t)(2 * h * v * 2), 0xFF);
  uint64_t lse = filled(device, (size_t)(2 * h * 4), 0xFF);
  mla_scalar scalars[] = {{"kv_scale", 0.5f}, {"sm_scale", 0.0722f}};
  mla_operands operands = {sizeof(operands)};
  operands.query = (mla_tensor){query, MLA_BF16, 2, h, qk, h * qk, qk};
  operands.out = (mla_tensor){out, MLA_BF16, 2, h, v, h * v, v};
  operands.lse = (mla_tensor){lse, MLA_F32, 2, h, 1, h, 1};
  operands.cache = (mla_cache){cache, MLA_E4M3, qk, qk, pages, page, page * qk, table, pages, 0};
  operands.scalars = scalars;
  operands.scalar_count = 2;

  int32_t indptr[] = {0, 1, 2}, lengths[] = {33, 0};
  mla_lengths batch = {sizeof(batch), 2, indptr, lengths, page, pages, pages, NULL};
  check(mla_plan_batch(plan, &batch, 0), "plan batch");
  check(mla_run(plan, &operands, 0), "run");
  print_lse(device, lse, h, "run");

  uint64_t stream = 0;
  check(mla_stream_create(device, &stream), "stream");
  check(mla_graph_capture_run(plan, &operands, stream, &graph), "capture");
  lengths[1] = 66;
  check(mla_plan_batch(plan, &batch, stream), "plan batch");
  check(mla_graph_replay(graph, stream), "replay");
  check(mla_device_synchronize(device, stream), "synchronize");
  print_lse(device, lse, h, "replay");

  lengths[0] = -1;
  if (mla_plan_batch(plan, &batch, stream) != MLA_INVALID_PLAN ||
      strcmp(mla_error_code(), "kvLenNegative") != 0)
    return 1;
  printf("refused: %s\n", mla_error_message());

  mla_graph_free(graph);
  graph = NULL;
  uint64_t device_indptr = filled(device, sizeof(indptr), 0),
           device_lengths = filled(device, sizeof(lengths), 0);
  mla_device_lengths on_device = {
      sizeof(on_device), 2, device_indptr, device_lengths, 2, page, pages, pages, 0};
  check(mla_graph_capture_planned_run(plan, &on_device, &operands, stream, &graph),
        "capture with the planner");
  lengths[0] = 33;
  check(mla_device_copy_in(device, device_indptr, indptr, sizeof(indptr)), "copy in");
  check(mla_device_copy_in(device, device_lengths, lengths, sizeof(lengths)), "copy in");
  check(mla_graph_replay(graph, stream), "replay");
  check(mla_device_synchronize(device, stream), "synchronize");
  check(mla_plan_check_device(plan), "check");
  print_lse(device, lse, h, "planned on the device");

  lengths[1] = -1;
  check(mla_device_copy_in(device, device_lengths, lengths, sizeof(lengths)), "copy in");
  check(mla_graph_replay(graph, stream), "replay");
  check(mla_device_synchronize(device, stream), "synchronize");
  if (mla_plan_check_device(plan) != MLA_INVALID_PLAN || strcmp(mla_error_code(), "kvLenNegative") != 0)
    return 1;
  printf("refused: %s\n", mla_error_message());

  mla_graph_free(graph);
  mla_stream_free(device, stream);
  mla_plan_free(plan);
  mla_kernel_free(kernel);
  uint64_t buffers[] = {workspace, cache, table, query, out, lse, device_indptr, device_lengths};
  for (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers); ++i)
    check(mla_device_release(device, buffers[i]), "release");
  mla_device_free(device);
  return 0;
}
