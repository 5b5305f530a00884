# Libraries that are not ours: from the system where installed. libduckdb comes from DUCKDB_ROOT,
# then pkg-config, then .deps/duckdb, which `./etw setup` fills from pinned npm packages.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(CURL REQUIRED libcurl) # headers only: loaded when a server is asked
pkg_check_modules(MSPACK REQUIRED IMPORTED_TARGET libmspack)

add_library(etw_curl INTERFACE)
target_include_directories(etw_curl SYSTEM INTERFACE ${CURL_INCLUDE_DIRS})

set(DUCKDB_ROOT "$ENV{DUCKDB_ROOT}" CACHE PATH "Folder with duckdb.h and libduckdb")
pkg_check_modules(DUCKDB_SYSTEM QUIET duckdb)
find_path(DUCKDB_INCLUDE duckdb.h NO_DEFAULT_PATH PATH_SUFFIXES include
          PATHS ${DUCKDB_ROOT} ${DUCKDB_SYSTEM_INCLUDE_DIRS} ${CMAKE_SOURCE_DIR}/.deps/duckdb)
find_library(DUCKDB_LIBRARY duckdb NO_DEFAULT_PATH PATH_SUFFIXES lib
             PATHS ${DUCKDB_ROOT} ${DUCKDB_SYSTEM_LIBRARY_DIRS} ${CMAKE_SOURCE_DIR}/.deps/duckdb)
find_path(DUCKDB_INCLUDE duckdb.h REQUIRED) # then wherever CMake looks by itself
find_library(DUCKDB_LIBRARY duckdb REQUIRED)
add_library(etw_duckdb INTERFACE)
target_include_directories(etw_duckdb SYSTEM INTERFACE ${DUCKDB_INCLUDE})
target_link_libraries(etw_duckdb INTERFACE ${DUCKDB_LIBRARY})
