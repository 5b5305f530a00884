# Warnings of the style guide on every target; sanitizers by ETW_SANITIZE.
add_library(etw_options INTERFACE)
target_compile_options(etw_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wcast-align
  -Wstrict-prototypes -Wmissing-prototypes -Wredundant-decls -Wundef -Wvla -Wformat=2
  -Wimplicit-fallthrough -Wswitch-enum -Wwrite-strings -Wdouble-promotion
  $<$<C_COMPILER_ID:GNU>:-Wnull-dereference>
  -fno-strict-aliasing -fvisibility=hidden)
target_compile_definitions(etw_options INTERFACE _FILE_OFFSET_BITS=64 _POSIX_C_SOURCE=200809L)
target_include_directories(etw_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
# Not in the sanitizer presets: instrumentation makes the compiler see paths that do not exist.
if(ETW_WERROR)
  target_compile_options(etw_options INTERFACE -Werror)
endif()
if(ETW_SANITIZE)
  target_compile_options(etw_options INTERFACE -fsanitize=${ETW_SANITIZE} -fno-sanitize-recover=all
                         -fno-omit-frame-pointer)
  target_link_options(etw_options INTERFACE -fsanitize=${ETW_SANITIZE})
endif()
if(ETW_FUZZ)
  target_compile_options(etw_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
