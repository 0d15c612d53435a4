/* Bad input through the C API: every status is its own, no exception comes out, handles stay usable. */
#include <mla/mla.h>

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int condition, const char *what) {
  if (condition)
    return;
  printf("failed: %s (last error: %s)\n", what, mla_error_message());
  ++failures;
}

static void device_or_reason(void) {
  mla_device *device = (mla_device *)&failures;
  int count = 0;
  mla_status status = mla_cuda_device_count(&count);
  expect(status == MLA_OK || status == MLA_DEVICE_FAILURE, "devices are counted, or it is said why not");
  if (status == MLA_OK && count > 0)
    return;
  expect(mla_cuda_device_create(0, &device) == MLA_DEVICE_FAILURE, "no device");
  expect(device == NULL, "no handle after a failure");
  expect(strlen(mla_error_message()) > 0 && strlen(mla_error_code()) > 0, "the error has a text and a code");
}

static void null_handles(void) {
  mla_kernel *kernel = NULL;
  mla_config config;
  memset(&config, 0, sizeof(config));
  config.size = sizeof(config);
  size_t bytes = 0;
  expect(mla_kernel_load(NULL, "text", 4, NULL, &kernel) == MLA_BAD_ARGUMENT, "no device");
  expect(strcmp(mla_error_field(), "device") == 0, "the field is named");
  expect(mla_kernel_load(NULL, "text", 4, NULL, NULL) == MLA_BAD_ARGUMENT, "nowhere to put the kernel");
  expect(mla_workspace_size(NULL, &config, &bytes) == MLA_BAD_ARGUMENT, "no kernel");
  config.size = 3;
  expect(mla_workspace_size(NULL, &config, &bytes) == MLA_BAD_ARGUMENT, "a structure of no known size");
  expect(mla_plan_batch(NULL, NULL, 0) == MLA_BAD_ARGUMENT, "no plan");
  expect(mla_plan_on_device(NULL, NULL, 0) == MLA_BAD_ARGUMENT, "no plan for lengths on the device");
  expect(mla_plan_check_device(NULL) == MLA_BAD_ARGUMENT, "no plan to ask");
  expect(mla_run(NULL, NULL, 0) == MLA_BAD_ARGUMENT, "nothing to run");
  expect(mla_merge(NULL, NULL, 1, NULL, 0) == MLA_BAD_ARGUMENT, "nothing to merge");
  expect(mla_graph_replay(NULL, 0) == MLA_BAD_ARGUMENT, "no graph");
  mla_device_free(NULL);
  mla_kernel_free(NULL);
  mla_plan_free(NULL);
  mla_graph_free(NULL);
}

int main(void) {
  printf("mla %s\n", mla_version());
  device_or_reason();
  null_handles();
  return failures != 0;
}
