#!/bin/sh
# Makes a PDB of about 60 MB with clang and lld from generated C++: many classes with small methods.
#
#   bench/sym_make_pdb.sh FOLDER     writes FOLDER/large.pdb and FOLDER/large.dll, unless present
#
# Needs clang and lld-link. Takes a minute or two.
set -eu
out=${1:?folder}
files=40
classes=72
methods=35
mkdir -p "$out/objects"
[ -s "$out/large.pdb" ] && exit 0

generate() { # number of the file
    awk -v file="$1" -v classes="$classes" -v methods="$methods" 'BEGIN {
        printf "namespace unit%d {\n", file
        print "template <class A, class B> struct Pair { A first; B second; };"
        for (c = 0; c < classes; c++) {
            printf "struct Component%d { int state; long long total; Pair<int, Pair<char, long> > data;\n", c
            for (m = 0; m < methods; m++)
                printf "int processElementNumber%d(int value, Pair<int, Pair<const char *, double> > *extra);\n", m
            print "};"
            for (m = 0; m < methods; m++) {
                printf "int Component%d::processElementNumber%d(int value, Pair<int, Pair<const char *, double> > *extra) {\n", c, m
                printf "    int local = value * %d + state;\n", file * 7919 + c * 31 + m + 1
                print  "    if (local > 1000) {\n        total += local;\n        extra->first += local;\n    }"
                printf "    for (int i = 0; i < value; i++) {\n        local ^= i << %d;\n    }\n", m % 13
                print  "    return local + data.first;\n}"
            }
        }
        print "}"
    }'
}

build() { # number of the file
    generate "$1" >"$out/objects/unit$1.cpp"
    clang --target=x86_64-pc-windows-msvc -O0 -g -gcodeview -fms-extensions -fno-exceptions \
        -fno-rtti -ffunction-sections -c "$out/objects/unit$1.cpp" -o "$out/objects/unit$1.obj"
    rm "$out/objects/unit$1.cpp"
}

i=0
while [ $i -lt $files ]; do
    build $i &
    i=$((i + 1))
    [ $((i % 2)) -ne 0 ] || wait
done
wait
lld-link /dll /machine:x64 /noentry /nodefaultlib /debug /opt:noref,noicf \
    "/out:$out/large.dll" "/pdb:$out/large.pdb" /pdbaltpath:large.pdb "$out"/objects/unit*.obj
rm -r "$out/objects"
ls -l "$out/large.pdb"
