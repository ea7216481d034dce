# Commit.cmake - which commit is built, looked up at each build:
#     cmake -DSOURCE=<folder of the sources> -DOUT=<a .c file to make> -P Commit.cmake
# Empty where the sources are no checkout of their own (a tarball has no .git), or git does not say.
set(commit "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=40 --exclude=* OUTPUT_VARIABLE commit
                  RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(commit "")
  endif()
endif()
set(text "extern const char tl_git_commit[];\nconst char tl_git_commit[] = \"${commit}\";\n")
set(before "")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
