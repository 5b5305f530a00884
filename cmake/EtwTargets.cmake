# etw_library(folder deps...): src/<folder>/**/*.c becomes library etw_<folder>.
set(ETW_LIBS_base Threads::Threads ${CMAKE_DL_LIBS} m)
set(ETW_LIBS_etl "")
set(ETW_LIBS_decode PkgConfig::EXPAT PkgConfig::JANSSON)
set(ETW_LIBS_sym PkgConfig::ZSTD PkgConfig::ZLIB etw_curl PkgConfig::MSPACK)
set(ETW_LIBS_store etw_duckdb PkgConfig::JANSSON)
set(ETW_LIBS_tools PkgConfig::JANSSON)
set(ETW_LIBS_mcp PkgConfig::JANSSON)

function(etw_sources folder out)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.c)
  if(WIN32) # a platform's own files say so in their names
    list(FILTER sources EXCLUDE REGEX "_posix\\.c$")
  else()
    list(FILTER sources EXCLUDE REGEX "_win32\\.c$")
  endif()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

function(etw_library folder)
  etw_sources(${folder} sources)
  if(NOT sources)
    add_library(etw_${folder} INTERFACE)
    foreach(dep ${ARGN})
      target_link_libraries(etw_${folder} INTERFACE etw_${dep})
    endforeach()
    target_link_libraries(etw_${folder} INTERFACE ${ETW_LIBS_${folder}})
    return()
  endif()
  add_library(etw_${folder} STATIC ${sources})
  target_link_libraries(etw_${folder} PUBLIC etw_options ${ETW_LIBS_${folder}})
  target_compile_definitions(etw_${folder} PRIVATE ETW_VERSION="${PROJECT_VERSION}")
  foreach(dep ${ARGN})
    target_link_libraries(etw_${folder} PUBLIC etw_${dep})
  endforeach()
endfunction()

# Bytes of files (SQL, schemas, HTML) linked into the program: etw_embed(target name files...)
# makes `extern const EmbeddedFile NAME[]` and `NAME_COUNT`; see src/base/embed.h.
function(etw_embed target name)
  set(out ${CMAKE_BINARY_DIR}/embed/${name}.c)
  set(list ${CMAKE_BINARY_DIR}/embed/${name}.txt)
  string(REPLACE ";" "\n" lines "${ARGN}")
  file(GENERATE OUTPUT ${list} CONTENT "${lines}\n")
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DLIST=${list} -DROOT=${CMAKE_SOURCE_DIR} -DOUT=${out}
            -P ${CMAKE_SOURCE_DIR}/cmake/EtwEmbed.cmake
    DEPENDS ${ARGN} ${list} ${CMAKE_SOURCE_DIR}/cmake/EtwEmbed.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

function(etw_program name folder)
  etw_sources(${folder} sources)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE etw_options)
  foreach(dep ${ARGN})
    target_link_libraries(${name} PRIVATE etw_${dep})
  endforeach()
  target_compile_definitions(${name} PRIVATE ETW_VERSION="${PROJECT_VERSION}")
endfunction()

# The same table for megabytes of files: the assembler takes them in as they are, which costs
# nothing, where a compiler needs many seconds for the numbers of an array.
function(etw_embed_large target name)
  set(out ${CMAKE_BINARY_DIR}/embed/${name}.c)
  set(asm "")
  set(externs "")
  set(table "")
  set(index 0)
  foreach(file ${ARGN})
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR} ${file})
    set(symbol ${name}_${index})
    string(APPEND asm "    \".globl \" SYMBOL(\"${symbol}\") \"\\n.globl \" SYMBOL(\"${symbol}_end\") \"\\n\"\n"
      "    \".balign 16\\n\" SYMBOL(\"${symbol}\") \":\\n.incbin \\\"${file}\\\"\\n\" SYMBOL(\"${symbol}_end\") \":\\n.byte 0\\n\"\n")
    string(APPEND externs "extern const unsigned char ${symbol}[], ${symbol}_end[];\n")
    string(APPEND table "    {\"${relative}\", ${symbol}, ${symbol}_end},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT [[
// Made by cmake/EtwTargets.cmake.
#include "base/embed.h"

#if defined(__APPLE__)
#define SYMBOL(name) "_" name
#define SECTION ".section __TEXT,__const\n"
#elif defined(_WIN32)
#define SYMBOL(name) name
#define SECTION ".section .rdata,\"dr\"\n"
#else
#define SYMBOL(name) name
#define SECTION ".section .rodata\n"
#endif

__asm__(SECTION
@asm@    ".text\n");

extern const EmbeddedSpan @name@[];
extern const unsigned @name@_COUNT;
@externs@
const EmbeddedSpan @name@[] = {
@table@    {0, 0, 0},
};
const unsigned @name@_COUNT = @index@;
]])
  set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS "${ARGN}")
  target_sources(${target} PRIVATE ${out})
endfunction()
