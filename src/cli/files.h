// Whole files, in and out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pteron::cli {

// The bytes of a regular file. Failure kInputOutput with the system's reason.
std::string read_file(const std::string& path);

// Writes a file beside `path` and renames it, so that nobody sees half of it. What is no regular file (a link, a
// device, a pipe) is not replaced but written to. Failure kInputOutput.
void write_file(const std::string& path, std::string_view bytes);

bool ends_with(const std::string& text, std::string_view ending);

// Little-endian numbers at the start of `data`, which must hold them.
uint16_t load_u16(const char* data);
uint32_t load_u32(const char* data);
uint64_t load_u64(const char* data);
void append_u16(std::string* out, uint16_t value);
void append_u32(std::string* out, uint32_t value);
void append_u64(std::string* out, uint64_t value);

}  // namespace pteron::cli
