# Script: writes OUT, a C file with the bytes of each file of LIST (paths relative to ROOT as names).
file(STRINGS ${LIST} files)
set(arrays "")
set(table "")
set(index 0)
foreach(file ${files})
  file(READ ${file} hex HEX)
  string(LENGTH "${hex}" length)
  math(EXPR size "${length} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  file(RELATIVE_PATH name ${ROOT} ${file})
  string(APPEND arrays "static const unsigned char file_${index}[] = {${bytes}0};\n")
  string(APPEND table "    {\"${name}\", file_${index}, ${size}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUT}.tmp "// Made by cmake/EtwEmbed.cmake.\n#include \"base/embed.h\"\n\n"
  "extern const EmbeddedFile ${NAME}[];\nextern const unsigned ${NAME}_COUNT;\n"
  "${arrays}\nconst EmbeddedFile ${NAME}[] = {\n${table}    {0, 0, 0},\n};\n"
  "const unsigned ${NAME}_COUNT = ${index};\n")
file(RENAME ${OUT}.tmp ${OUT})
