/* Syncs that take as long as SLOW_SYNC_US says: loaded before the C library of a worker, on Linux. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait_for_disk(void) {
  const char *text = getenv("SLOW_SYNC_US");
  long us = text ? atol(text) : 0;
  struct timespec pause = {us / 1000000, (us % 1000000) * 1000};
  if (us > 0) nanosleep(&pause, 0);
}

int fsync(int descriptor) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_for_disk();
  return real(descriptor);
}

int fdatasync(int descriptor) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_for_disk();
  return real(descriptor);
}
