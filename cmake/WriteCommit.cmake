# Run at each build: writes OUT, a header with the commit that SOURCE is at, if that has changed. A source package has no
# repository, but the file .commit.
cmake_minimum_required(VERSION 3.23)
set(commit "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
elseif(EXISTS ${SOURCE}/.commit)
  file(STRINGS ${SOURCE}/.commit commit LIMIT_COUNT 1)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define HEADCRASH_COMMIT \"@commit@\"\n" @ONLY)
