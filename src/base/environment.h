// Environment variables.
#pragma once

#include <string>
#include <vector>

namespace pteron {

// The variable's text, or null when it is unset or empty.
const char* environment(const char* name);

// The same for variables that decide which code is loaded: null as well in a process that runs with more rights than
// its caller has (set-user-id, file capabilities), whose environment is the caller's to choose.
const char* trusted_environment(const char* name);

// The variable as a whole number, or `otherwise` when it is unset, is no number, or lies outside [least, most].
int environment_number(const char* name, int least, int most, int otherwise);

// The parts of a colon-separated list of folders, empty ones left out.
std::vector<std::string> split_path_list(const char* list);

}  // namespace pteron
