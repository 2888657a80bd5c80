# A small C project, generated and compiled in the guest: the program of `tool = "compile"`.
#
#   sh compile.sh prepare FOLDER [FILES]    FILES sources (60), a header, and the expected output of the program
#   sh compile.sh build FOLDER [FILES]      tcc -c of each, the linker, the program, a check of its output
#
# Every function maps x to (a x + b) mod 65521, with its own a and b; the program passes x = 1 through all of them. awk computes
# the same in floating point, exactly, since a x stays below 2^32. The program needs no library and no system header, so the
# guest needs only the compiler.
set -eu
mode=$1 project=$2/project files=${3:-60}
case $mode in
prepare)
  mkdir -p "$project/src" "$project/objects"
  busybox awk -v files="$files" -v to="$project" 'BEGIN {
    functions = 12; x = 1
    header = to "/src/project.h"
    print "#ifndef PROJECT_H\n#define PROJECT_H\ntypedef unsigned word;\n#define PRIME 65521u" > header
    main = to "/src/main.c"
    print "#include \"project.h\"\n" \
      "static long call(long n, long a, long b, long c) {\n  long r;\n" \
      "  __asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"(n), \"D\"(a), \"S\"(b), \"d\"(c) : \"rcx\", \"r11\", \"memory\");\n" \
      "  return r;\n}\nvoid _start(void) {\n  word x = 1;" > main
    for (i = 0; i < files; ++i) {
      source = to "/src/part" i ".c"
      print "#include \"project.h\"\n" > source
      for (j = 0; j < functions; ++j) {
        a = (i * 7919 + j * 104729) % 65520 + 1; b = (i * 31 + j * 17) % 65521
        x = (a * x + b) % 65521
        printf "word part%d_%d(word);\n", i, j > header
        printf "/* Step %d of part %d. */\nword part%d_%d(word x) {\n  static const word factors[4] = {%du, %du, 1u, 0u};\n", j, i, i, j, a, b > source
        print "  word sum = factors[3];\n  int k;\n  for (k = 0; k < 1; ++k) sum += factors[0] * x * factors[2];" > source
        print "  if (sum >= PRIME) sum %= PRIME;\n  return (sum + factors[1]) % PRIME;\n}\n" > source
        printf "  x = part%d_%d(x);\n", i, j > main
      }
      close(source)
    }
    print "#endif" > header
    print "  {\n    char text[12];\n    int at = 11;\n    text[at] = 10;\n    do text[--at] = (char)(48 + x % 10); while (x /= 10);\n" \
      "    call(1, 1, (long)(text + at), 12 - at);\n  }\n  call(60, 0, 0, 0);\n}" > main
    print x > (to "/expected")
  }'
  ;;
build)
  cd "$project"
  for source in src/*.c; do
    object=${source#src/}
    tcc -nostdinc -Isrc -c "$source" -o "objects/${object%.c}.o"
  done
  tcc -nostdlib -o program objects/*.o
  printed=$(./program)
  read -r expected < expected
  [ "$printed" = "$expected" ] || { echo "the program printed $printed instead of $expected" >&2; exit 1; }
  bytes() { busybox cat "$@" | busybox wc -c; }
  echo "compiled $((files + 1)) files of $(bytes src/*) bytes into $(bytes objects/* program) bytes"
  ;;
esac
