# How every target of the project is made: pteron_objects() for a layer, pteron_component() for what is installed,
# pteron_test() and pteron_fuzzer() for the programs that check it.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
find_program(PTERON_CCACHE ccache)
mark_as_advanced(PTERON_CCACHE)
if(PTERON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${PTERON_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${PTERON_CCACHE}")
endif()

add_compile_options(-Wall -Wextra -Wpedantic)
# g++ 12 warns of overlapping copies inside std::string's own operator+ (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# One section a function costs nothing in a shared library and lets the linker drop what is not used.
add_compile_options(-fdata-sections -ffunction-sections)
add_link_options(LINKER:--gc-sections)
# Paths of the machine that built it have no place in a binary.
add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
if(PTERON_DEVELOPER_MODE)
  add_compile_options(-Werror)
endif()
if(PTERON_SANITIZE)
  add_compile_options(-fsanitize=${PTERON_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PTERON_SANITIZE})
endif()
if(PTERON_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "PTERON_BUILD_FUZZERS needs clang (libFuzzer); the compiler is ${CMAKE_CXX_COMPILER}")
  endif()
  # Coverage feedback must be in everything a fuzz target calls, not only in the target.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# pteron_objects(NAME SOURCES... [LINK targets...]): an object library `pteron_NAME` whose includes are written from
# src/. A release compiles it for size: libpteron.so is loaded by every process, and what counts there is in few files
# (see pteron_hot_sources).
function(pteron_objects name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_library(pteron_${name} OBJECT ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(pteron_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(pteron_${name} PUBLIC ${arg_LINK})
  target_compile_options(pteron_${name} PRIVATE $<$<CONFIG:Release>:-Os>)
endfunction()

# pteron_hot_sources(FILES...): files that run once for each instruction of a program, compiled for speed.
function(pteron_hot_sources)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O2>")
endfunction()

# A component registers itself and is never called by name, so a linker would leave it out; this keeps it in.
function(pteron_keep_when_linked target component)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    # Against --as-needed, which distributions set.
    set(keep "LINKER:--push-state,--no-as-needed,$<TARGET_FILE:@target@>,--pop-state")
    string(REPLACE "@target@" "${target}" keep_here "${keep}")
    string(REPLACE "@target@" "pteron::${component}" keep_installed "${keep}")
    target_link_options(${target} INTERFACE "$<BUILD_INTERFACE:${keep_here}>" "$<INSTALL_INTERFACE:${keep_installed}>")
  else()
    # From an archive a linker takes only what is asked for: this asks for the object that registers the component.
    target_link_options(${target} INTERFACE "LINKER:-u,pteron_link_${component}")
  endif()
endfunction()

# pteron_component(TARGET COMPONENT [TEST_ONLY]): makes a library what users get as `pteron::COMPONENT`: only pteron_*
# leaves it, linking it is enough to have it, and it is installed with its part of the package. TEST_ONLY components are
# installed only when asked for (cmake --install BUILD --component test).
function(pteron_component target component)
  cmake_parse_arguments(arg "TEST_ONLY" "" "" ${ARGN})
  add_library(pteron::${component} ALIAS ${target})
  # The same search path in the build tree: CMake would otherwise pad it with empty entries, which mean the current
  # directory.
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${component} INSTALL_RPATH "$ORIGIN" BUILD_RPATH "$ORIGIN")
  target_compile_features(${target} INTERFACE cxx_std_17)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    set(map "${PROJECT_SOURCE_DIR}/cmake/pteron.map")
    target_link_options(${target} PRIVATE "LINKER:--version-script=${map}" LINKER:-z,relro,-z,now
      LINKER:-z,nodelete)  # what registered itself, and the threads of the pool, must not lose their code
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
    if(NOT PTERON_SANITIZE)  # clang's sanitizer runtime is in the program, so a library of its own cannot be complete
      target_link_options(${target} PRIVATE LINKER:-z,defs)
    endif()
  endif()
  if(NOT component STREQUAL "runtime")
    pteron_keep_when_linked(${target} ${component})
  endif()

  set(group pteron)
  set(rest)
  if(arg_TEST_ONLY)
    set(group test)
    set(rest EXCLUDE_FROM_ALL)
  endif()
  install(TARGETS ${target} EXPORT pteron-${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${group} ${rest}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${group} ${rest})
  install(EXPORT pteron-${component} NAMESPACE pteron:: FILE pteron-${component}-targets.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pteron COMPONENT ${group} ${rest})
endfunction()

# pteron_test(NAME SOURCES... [LINK targets...] [THREADS]): a GoogleTest program registered with CTest. THREADS: it shares
# objects between threads, so it is also run under ThreadSanitizer (target pteron_thread_tests, label `threads`).
function(pteron_test name)
  if(NOT PTERON_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "THREADS" "" "LINK" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE PTERON_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
  if(arg_THREADS)
    set_property(TEST ${name} APPEND PROPERTY LABELS threads)
    if(NOT TARGET pteron_thread_tests)
      add_custom_target(pteron_thread_tests)
    endif()
    add_dependencies(pteron_thread_tests ${name})
  endif()
endfunction()

# pteron_fuzzer(NAME SOURCES... [LINK targets...]): a libFuzzer program in bin/; scripts/fuzz finds it by its name
# `fuzz_...`.
function(pteron_fuzzer name)
  if(NOT PTERON_BUILD_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()
