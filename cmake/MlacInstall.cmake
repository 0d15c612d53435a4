# The public libraries and find_package(mla).
include(CMakePackageConfigHelpers)

# mlac_public_library(target name): installs a shared library as mla::name.
function(mlac_public_library target name)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR} INSTALL_RPATH "$ORIGIN"
                        INSTALL_RPATH_USE_LINK_PATH TRUE)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  add_library(mla::${name} ALIAS ${target})
  install(TARGETS ${target} EXPORT mlaTargets COMPONENT runtime LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

set(mla_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mla)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/mla DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime)
install(EXPORT mlaTargets NAMESPACE mla:: DESTINATION ${mla_package_dir} COMPONENT runtime)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/mlaConfig.cmake.in ${PROJECT_BINARY_DIR}/mlaConfig.cmake
                              INSTALL_DESTINATION ${mla_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mlaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mlaConfig.cmake ${PROJECT_BINARY_DIR}/mlaConfigVersion.cmake
        DESTINATION ${mla_package_dir} COMPONENT runtime)
