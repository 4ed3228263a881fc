/* A record of what is on the disk: preloaded, it keeps a copy of each file at its last sync, and of each folder's names at its last sync.

   Below TORTURE_ROOT only. Copies go to TORTURE_DURABLE: `file-INODE` with the content, `names-INODE` with a line "INODE NAME" for each
   file. At the event numbered TORTURE_EVENT (a sync, a rename, a removal) the process dies before it; so nothing that it had not synced
   can be taken for kept. With 0 it lives, and the number of events is written to `events`. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int events;

static int below(const char *path) {
    const char *root = getenv("TORTURE_ROOT");
    return root && !strncmp(path, root, strlen(root));
}

static int below_handle(int handle) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t size = readlink(link, path, sizeof path - 1);
    path[size < 0 ? 0 : size] = 0;
    return size > 0 && below(path);
}

static FILE *record(const char *kind, unsigned long inode) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s-%lu", getenv("TORTURE_DURABLE"), kind, inode);
    return fopen(path, "w");
}

static void happens(void) {
    if (++events == atoi(getenv("TORTURE_EVENT"))) kill(getpid(), SIGKILL);
    FILE *file = record("events", 0);
    if (file) { fprintf(file, "%d", events); fclose(file); }
}

static void keep(int handle) {
    struct stat told;
    if (fstat(handle, &told)) return;
    FILE *file = record(S_ISDIR(told.st_mode) ? "names" : "file", told.st_ino);
    if (!file) return;
    if (S_ISDIR(told.st_mode)) {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
        DIR *folder = opendir(link);
        for (struct dirent *entry; folder && (entry = readdir(folder));)
            if (entry->d_name[0] != '.' || (entry->d_name[1] && entry->d_name[1] != '.'))
                fprintf(file, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
        if (folder) closedir(folder);
    } else {
        char block[65536];
        off_t at = 0;
        for (ssize_t size; (size = pread(handle, block, sizeof block, at)) > 0; at += size) fwrite(block, 1, size, file);
    }
    fclose(file);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int synced(int (*sync)(int), int handle) {
    int ours = below_handle(handle);
    if (ours) happens();
    int done = sync(handle);
    if (ours && !done) keep(handle);
    return done;
}

int fsync(int handle) { return synced(REAL(fsync), handle); }
int fdatasync(int handle) { return synced(REAL(fdatasync), handle); }
int rename(const char *from, const char *to) {
    if (below(from)) happens();
    return REAL(rename)(from, to);
}
int unlink(const char *path) {
    if (below(path)) happens();
    return REAL(unlink)(path);
}
