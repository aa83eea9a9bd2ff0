/* The C interface alone, compiled as C99: adds two vectors with a program, plain_c ADD.pte */
#include <pteron/c/method.h>
#include <pteron/c/runtime.h>
#include <stdio.h>
#include <string.h>

static int report(pteron_status* status) {
  if (status == NULL) return 0;
  fprintf(stderr, "%s: %s\n", pteron_code_name(pteron_status_code(status)), pteron_status_message(status));
  pteron_status_free(status);
  return 1;
}

static pteron_value vector_of(pteron_tensor* tensor, float* data, int64_t* size, int64_t* stride) {
  pteron_value value;
  memset(tensor, 0, sizeof *tensor);
  memset(&value, 0, sizeof value);
  tensor->data = data;
  tensor->sizes = size;
  tensor->strides = stride;
  tensor->capacity = (size_t)*size * sizeof(float);
  tensor->rank = 1;
  tensor->dtype = PTERON_FLOAT32;
  value.kind = PTERON_KIND_TENSOR;
  value.as.tensor = tensor;
  return value;
}

static int add(pteron_method* method) {
  float a[3] = {1.0f, 2.0f, 3.0f};
  float b[3] = {10.0f, 20.0f, 30.0f};
  int64_t size = 3;
  int64_t stride = 1;
  pteron_tensor tensors[2];
  const pteron_value first = vector_of(&tensors[0], a, &size, &stride);
  const pteron_value second = vector_of(&tensors[1], b, &size, &stride);
  const pteron_value* output;
  const float* sum;
  if (report(pteron_method_set_input(method, 0, &first))) return 1;
  if (report(pteron_method_set_input(method, 1, &second))) return 1;
  if (report(pteron_method_run(method, NULL))) return 1;
  output = pteron_method_output(method, 0);
  if (output == NULL || output->kind != PTERON_KIND_TENSOR) return 1;
  sum = (const float*)output->as.tensor->data;
  printf("%g %g %g\n", (double)sum[0], (double)sum[1], (double)sum[2]);
  return !(sum[0] == 11.0f && sum[1] == 22.0f && sum[2] == 33.0f);
}

int main(int argc, char** argv) {
  pteron_program* program = NULL;
  pteron_plan* plan = NULL;
  pteron_method* method = NULL;
  int failed;
  if (argc != 2) return 2;
  if (report(pteron_program_load_file(argv[1], NULL, &program))) return 1;
  failed = report(pteron_plan_create(program, "forward", NULL, &plan));
  pteron_program_release(program);
  if (failed) return 1;
  failed = report(pteron_method_create(plan, NULL, &method));
  pteron_plan_release(plan);
  if (failed) return 1;
  failed = add(method);
  pteron_method_destroy(method);
  return failed;
}
