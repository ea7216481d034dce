/* commit.h - the commit that this program was built from. */
#ifndef JOB_COMMIT_H
#define JOB_COMMIT_H

/* 40 digits, and "-dirty" where files differed from it; empty where the build did not know (see Commit.cmake). */
extern const char tl_git_commit[];

#endif
