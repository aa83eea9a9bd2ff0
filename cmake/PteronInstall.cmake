# What `cmake --install` puts in place beside the components: headers and the package's configuration.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pteron)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/pteron" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT pteron
  FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT pteron)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/pteron-config.cmake.in" pteron-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(pteron-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/pteron-config.cmake" "${CMAKE_CURRENT_BINARY_DIR}/pteron-config-version.cmake"
  DESTINATION ${package_dir} COMPONENT pteron)
