# Compiler flags and helpers shared by every folder.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(mlac_options INTERFACE)
target_include_directories(mlac_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR})
target_compile_options(mlac_options INTERFACE -Wall -Wextra -Wno-unused-parameter)
target_compile_definitions(mlac_options INTERFACE MLAC_VERSION="${PROJECT_VERSION}")
if(MLAC_WERROR)
  target_compile_options(mlac_options INTERFACE -Werror)
endif()
# lld links the LLVM-sized binaries in a second instead of ten. GCC would find it only under its unversioned name.
find_program(LLD_PROGRAM NAMES ld.lld-22 ld.lld)
if(LLD_PROGRAM AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_link_options(mlac_options INTERFACE --ld-path=${LLD_PROGRAM})
endif()
