# LLVM and MLIR 22, shared (default) or static (MLAC_STATIC_LLVM), and helpers for libraries that use them.
find_package(MLIR REQUIRED CONFIG
             HINTS /usr/lib/llvm-22/lib/cmake/mlir)
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} from ${MLIR_DIR}")
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "mlac needs LLVM and MLIR 22, found ${LLVM_PACKAGE_VERSION}")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

separate_arguments(MLAC_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")

add_library(mlac_mlir INTERFACE)
target_link_libraries(mlac_mlir INTERFACE mlac_options)
target_include_directories(mlac_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(mlac_mlir INTERFACE ${MLAC_LLVM_DEFINITIONS})
target_compile_options(mlac_mlir INTERFACE -fno-rtti -fno-exceptions)

if(MLAC_STATIC_LLVM)
  # Debian's archives name shared libraries in their link interface: take LLVM out, and name the archives.
  get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS imported)
    get_target_property(libs ${target} INTERFACE_LINK_LIBRARIES)
    if(libs)
      list(REMOVE_ITEM libs LLVM)
      list(TRANSFORM libs REPLACE "^zstd::libzstd_shared$" "zstd::libzstd_static")
      set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${libs}")
    endif()
  endforeach()
  llvm_map_components_to_libnames(MLAC_LLVM_ARCHIVES
    NVPTX X86 OrcJIT Passes Core Support Target TargetParser AsmParser)
  set(MLAC_MLIR_ARCHIVES
    MLIRIR MLIRParser MLIRPass MLIRTransforms MLIRTransformUtils
    MLIRArithDialect MLIRArithToLLVM MLIRControlFlowToLLVM MLIRSCFToControlFlow MLIRSCFDialect
    MLIRSCFTransforms MLIRFuncDialect MLIRFuncTransforms MLIRMemRefDialect MLIRTensorDialect MLIRLinalgDialect MLIRVectorDialect
    MLIRAffineDialect MLIRBufferizationDialect MLIRControlFlowDialect MLIRMathDialect MLIRUBDialect
    MLIRGPUDialect MLIRLLVMDialect MLIRNVVMDialect MLIRLLVMIRTransforms MLIRReconcileUnrealizedCasts
    MLIRTargetLLVMIRExport MLIRLLVMToLLVMIRTranslation MLIRNVVMToLLVMIRTranslation MLIRBuiltinToLLVMIRTranslation)
  target_link_libraries(mlac_mlir INTERFACE ${MLAC_MLIR_ARCHIVES} ${MLAC_LLVM_ARCHIVES})
  # A third of the binary is unreferenced; libraries that another machine may lack are linked in or, as Z3, not needed.
  target_link_options(mlac_mlir INTERFACE -s -Wl,--gc-sections -Wl,--as-needed -static-libstdc++ -static-libgcc)
else()
  target_link_libraries(mlac_mlir INTERFACE MLIR LLVM)
endif()

# One precompiled header serves every MLIR translation unit: the headers cost 10 to 30 s each otherwise.
add_library(mlac_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
target_link_libraries(mlac_pch PUBLIC mlac_mlir)
target_precompile_headers(mlac_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)

# mlac_add_mlir_library(name SOURCES... [DEPENDS targets] [LINK libraries])
function(mlac_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC mlac_mlir ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM mlac_pch)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
