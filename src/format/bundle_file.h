// A `.bpte` file, verified and decoded: a program with inputs and expected outputs of its methods.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/program_file.h"
#include "format/shape.h"
#include "pteron/result.h"

namespace pteron::format {

struct BundleValue {
  pteron_kind kind = PTERON_KIND_NONE;  // int, bool, double or tensor
  int64_t as_int = 0;
  double as_double = 0;
  bool as_bool = false;
  Shape shape;                    // tensor
  const uint8_t* data = nullptr;  // tensor: shape.bytes bytes, aligned for the dtype
};

struct BundleCase {
  std::vector<BundleValue> inputs;
  std::vector<BundleValue> expected;
};

struct BundleSuite {
  std::string_view method;
  std::vector<BundleCase> cases;
};

struct BundleFile {
  Bytes bytes;
  Bytes program;  // the `.pte` inside, aligned to 16; shares the file's bytes where their place allows
  std::vector<std::shared_ptr<const void>> copies;
  std::vector<BundleSuite> suites;
};

// True when the bytes are said to be a bundle, of whatever version.
bool looks_like_bundle(const Bytes& bytes);

// Verifies and decodes everything but the program, which read_program_file() takes. `bytes` must be aligned to 16.
Result<BundleFile> read_bundle_file(Bytes bytes);

}  // namespace pteron::format
