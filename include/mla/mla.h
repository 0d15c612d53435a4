/* The C API. Link mla::runtime for artefacts; mla_jit_... and mla_emulator_create are in mla::jit.
 *
 * Handles are opaque and freed with their ..._free function, which takes NULL; a kernel keeps its device, a
 * plan its kernel. Every function that can fail returns a status and never lets an exception out;
 * mla_error_...() describe the calling thread's last failure. After a failure the handles are as they were.
 *
 * Structures start with their size: write `mla_config config = {sizeof(config)};`. A library takes a larger
 * structure of a newer header if what it does not know is zero.
 *
 * Shapes and strides count elements, sizes count bytes, device addresses are uint64_t (CUdeviceptr; on the
 * emulator host addresses), streams are uint64_t (CUstream; 0 is the device's own). All meanings are those of
 * mla/Kernel.h.
 */
#ifndef MLA_MLA_H
#define MLA_MLA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MLA_API __attribute__((visibility("default")))

typedef struct mla_device mla_device;
typedef struct mla_kernel mla_kernel;
typedef struct mla_plan mla_plan;
typedef struct mla_graph mla_graph;
typedef struct mla_writer mla_writer;

/* The kind of a failure; mla_error_code() tells them apart further. */
typedef enum mla_status {
  MLA_OK = 0,
  MLA_INVALID_ARTEFACT = 1, /* not an artefact, damaged, newer, or without that kernel */
  MLA_INVALID_CONFIG = 2,   /* configuration, capacity or workspace */
  MLA_INVALID_PLAN = 3,     /* lengths, indptrs, page geometry */
  MLA_INVALID_OPERAND = 4,  /* what run() or merge() was given */
  MLA_DEVICE_FAILURE = 5,   /* no driver, no device, or the driver refused a call */
  MLA_COMPILE_FAILURE = 6,  /* the program, the target or the cache */
  MLA_BAD_ARGUMENT = 7,     /* a null handle or a structure of unknown size */
  MLA_INTERNAL = 8
} mla_status;

typedef enum mla_dtype {
  MLA_F32 = 0,
  MLA_F16 = 1,
  MLA_BF16 = 2,
  MLA_E4M3 = 3,
  MLA_E5M2 = 4,
  MLA_S8 = 5,
  MLA_U8 = 6 /* bytes of records */
} mla_dtype;
typedef enum mla_layout { MLA_RAGGED = 0, MLA_PAGED = 1 } mla_layout;
typedef enum mla_lse_base { MLA_LSE_NONE = 0, MLA_LSE_LOG2 = 1, MLA_LSE_LN = 2 } mla_lse_base;
typedef enum mla_deterministic { MLA_DETERMINISTIC_RUN = 0, MLA_DETERMINISTIC_BATCH = 1 } mla_deterministic;

/*--- Errors: of the calling thread's last failure, valid until its next. ---*/
MLA_API const char *mla_error_message(void);
MLA_API const char *mla_error_code(void);    /* a stable name, such as "kvLenNegative" */
MLA_API const char *mla_error_field(void);   /* such as "kv_len[3]" */
MLA_API const char *mla_error_value(void);   /* what it was */
MLA_API const char *mla_error_allowed(void); /* what it must be */

MLA_API const char *mla_version(void);

/*--- Devices ---*/
MLA_API mla_status mla_cuda_device_count(int *count);
MLA_API mla_status mla_cuda_device_create(int index, mla_device **device);
/* In mla::jit. `multiprocessors`: what a plan spreads its work over. */
MLA_API mla_status mla_emulator_create(uint64_t seed, int multiprocessors, mla_device **device);
MLA_API void mla_device_free(mla_device *device);

MLA_API mla_status mla_device_allocate(mla_device *device, size_t bytes,
                                       uint64_t *address); /* aligned to 256 */
MLA_API mla_status mla_device_release(mla_device *device, uint64_t address);
MLA_API mla_status mla_device_copy_in(mla_device *device, uint64_t to, const void *from, size_t bytes);
MLA_API mla_status mla_device_copy_out(mla_device *device, void *to, uint64_t from, size_t bytes);
MLA_API mla_status mla_device_synchronize(mla_device *device, uint64_t stream);
MLA_API mla_status mla_stream_create(mla_device *device, uint64_t *stream);
MLA_API void mla_stream_free(mla_device *device, uint64_t stream);

/*--- Kernels ---*/
/* `name` may be NULL if there is one kernel. */
MLA_API mla_status mla_kernel_load(mla_device *device, const void *artefact, size_t bytes, const char *name,
                                   mla_kernel **kernel);

/* In mla::jit. Strings may be NULL: see mla::jit::Options. */
typedef struct mla_jit_options {
  size_t size;
  const char *kernel;
  const char *target;
  const char *profile;
  const char *ptx;
  const char *cache_directory; /* NULL: the default one; "": nothing is kept */
  const char *const *define_names;
  const int64_t *define_values;
  size_t defines;
  const char *tuned; /* device whose tuned schedules are taken, "here": the given one; NULL: none */
} mla_jit_options;

/* In mla::jit. `source` ends in a null character; `options` may be NULL. */
MLA_API mla_status mla_jit_load(mla_device *device, const char *source, const mla_jit_options *options,
                                mla_kernel **kernel);
MLA_API void mla_kernel_free(mla_kernel *kernel);

typedef struct mla_kernel_info {
  size_t size;
  const char *name; /* valid as long as the kernel */
  int64_t heads, qk_dim, v_dim;
  mla_dtype query_dtype, cache_dtype, out_dtype;
  mla_layout layout; /* of the cache */
  int causal;
  mla_lse_base lse;
  int64_t window; /* tokens before a query's own position that it sees; -1: all */
  int64_t kv_heads; /* of a prefill kernel; 0 for a decode kernel */
  int64_t cache_dim; /* elements of a cached row: qk_dim, or the bytes of a record */
} mla_kernel_info;

MLA_API mla_status mla_kernel_describe(const mla_kernel *kernel, mla_kernel_info *info);

/* Zero everywhere but in the capacities is a good start. */
typedef struct mla_config {
  size_t size;
  int64_t max_requests;   /* at least 1 */
  int64_t max_query_rows; /* at least 1 */
  int64_t max_work_items; /* 0: as many as needed */
  int blocks;             /* 0: what the device holds */
  int no_split;
  mla_deterministic deterministic;
  int graph;        /* launches of the capacity's size, for capture and replay */
  int check_tables; /* debugging: mla_run() has the page table checked first */
  int no_overlap;   /* the combine waits for the whole main kernel */
} mla_config;

/* *supported: whether mla_plan_create() accepts the configuration; the thread's last error says why not. */
MLA_API mla_status mla_supports(const mla_kernel *kernel, const mla_config *config, int *supported);
MLA_API mla_status mla_workspace_size(const mla_kernel *kernel, const mla_config *config, size_t *bytes);

/*--- Plans and runs ---*/
MLA_API mla_status mla_plan_create(mla_kernel *kernel, const mla_config *config, uint64_t workspace,
                                   size_t workspace_bytes, mla_plan **plan);
MLA_API void mla_plan_free(mla_plan *plan);

/* Host memory, read during the call only. */
typedef struct mla_lengths {
  size_t size;
  int64_t batch;
  const int32_t *q_indptr; /* [batch + 1] */
  const int32_t *kv_len;   /* [batch] */
  int32_t page_size;
  int64_t table_columns;
  int64_t pages;
  const int32_t *cache_indptr; /* [batch + 1], of a ragged cache or of keys and values; else NULL */
} mla_lengths;

MLA_API mla_status mla_plan_batch(mla_plan *plan, const mla_lengths *lengths, uint64_t stream);

/* Lengths in device memory, read when the planner runs there. Needs mla_config.graph. */
typedef struct mla_device_lengths {
  size_t size;
  int64_t requests;
  uint64_t q_indptr;  /* i32[requests + 1] */
  uint64_t kv_len;    /* i32[requests] */
  int64_t query_rows; /* rows of the query tensor, at least q_indptr[requests] */
  int32_t page_size;
  int64_t table_columns;
  int64_t pages;
  uint64_t cache_indptr; /* i32[requests + 1], of a ragged cache; else 0 */
} mla_device_lengths;

/* What is wrong with the lengths is reported by the next call on the plan, or by mla_plan_check_device(). */
MLA_API mla_status mla_plan_on_device(mla_plan *plan, const mla_device_lengths *lengths, uint64_t stream);
MLA_API mla_status mla_plan_check_device(mla_plan *plan);

/* Element (token, head, d) at data + (token * stride_token + head * stride_head + d) elements; an LSE has no
 * d. */
typedef struct mla_tensor {
  uint64_t data;
  mla_dtype dtype;
  int64_t rows, heads, dim;
  int64_t stride_token, stride_head;
} mla_tensor;

typedef struct mla_cache {
  uint64_t data;
  mla_dtype dtype;
  int64_t dim;
  int64_t stride_token;
  int64_t pages;
  int32_t page_size;
  int64_t stride_page;
  uint64_t table; /* device memory: i32[batch][table_stride] */
  int64_t table_stride;
  uint64_t indptr; /* device memory, of a ragged cache: i32[batch + 1] */
  /* Of records whose scales lie apart: rows of scales, found as the records are; strides in bytes. */
  uint64_t scales;
  int64_t scale_stride_page, scale_stride_token;
} mla_cache;

typedef struct mla_scalar {
  const char *name;
  float value;
} mla_scalar;

/* One f32 for each head, head after head in device memory: slopes, sinks. */
typedef struct mla_head_values {
  const char *name;
  uint64_t data;
  int64_t heads;
} mla_head_values;

typedef struct mla_operands {
  size_t size;
  mla_tensor query, out, lse;
  mla_cache cache;
  const mla_scalar *scalars;
  size_t scalar_count;
  const mla_head_values *head_values;
  size_t head_value_count;
  mla_tensor key, value; /* of a prefill kernel, which has no cache */
} mla_operands;

MLA_API mla_status mla_run(mla_plan *plan, const mla_operands *operands, uint64_t stream);

typedef struct mla_state {
  mla_tensor out, lse;
} mla_state;

/* Any number of states from 1 on; `into` may be one of them. */
MLA_API mla_status mla_merge(mla_kernel *kernel, const mla_state *states, size_t count, const mla_state *into,
                             uint64_t stream);

/*--- Writers: kernels that append rows to a paged cache; see mla/Writer.h ---*/
MLA_API mla_status mla_writer_load(mla_device *device, const void *artefact, size_t bytes, const char *name,
                                   mla_writer **writer);
/* In mla::jit. */
MLA_API mla_status mla_jit_load_writer(mla_device *device, const char *source, const mla_jit_options *options,
                                       mla_writer **writer);
MLA_API void mla_writer_free(mla_writer *writer);

/* Row i, element d at data + (i * stride_token + d) elements. */
typedef struct mla_new_rows {
  const char *name;
  uint64_t data;
  mla_dtype dtype;
  int64_t dim, stride_token;
} mla_new_rows;

/* Where rows go: slots, of which negative ones skip their row; or, where `slots` is 0, the requests' lists. */
typedef struct mla_append {
  size_t size;
  const mla_new_rows *parts;
  size_t part_count;
  int64_t rows;      /* of the parts */
  uint64_t slots;    /* i64[rows] or i32[rows], device memory */
  int slot_bytes;    /* 8 or 4; 0: 8 */
  int check;         /* debugging: slots or lists are looked through first */
  int64_t requests;
  uint64_t indptr;   /* i32[requests + 1], device memory; beside slots only the last entry counts, or 0 */
  uint64_t kv_len;   /* i32[requests], device memory */
  int64_t table_columns;
  mla_cache cache;   /* table and table_stride: of lists alone */
  const mla_scalar *scalars;
  size_t scalar_count;
} mla_append;

MLA_API mla_status mla_writer_append(mla_writer *writer, const mla_append *append, uint64_t stream);
/* Captures one mla_writer_append(); nothing of it runs. */
MLA_API mla_status mla_graph_capture_append(mla_writer *writer, const mla_append *append, uint64_t stream, mla_graph **graph);

/*--- Graphs ---*/
/* Captures one mla_run(); nothing of it runs. A later mla_plan_batch() on the plan, made with
 * mla_config.graph, is what mla_graph_replay() sees. */
MLA_API mla_status mla_graph_capture_run(mla_plan *plan, const mla_operands *operands, uint64_t stream,
                                         mla_graph **graph);
/* Captures an mla_plan_on_device() and an mla_run(): every replay plans what the arrays hold by then. */
MLA_API mla_status mla_graph_capture_planned_run(mla_plan *plan, const mla_device_lengths *lengths,
                                                 const mla_operands *operands, uint64_t stream,
                                                 mla_graph **graph);
MLA_API mla_status mla_graph_replay(mla_graph *graph, uint64_t stream);
MLA_API void mla_graph_free(mla_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
