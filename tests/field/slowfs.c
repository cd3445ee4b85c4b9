/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file system that passes everything on to a directory, and is slow at one thing while it is told
 * to be: a disk as it may be, without a change to the program that writes to it.
 *
 *   slowfs DIRECTORY ORDER MOUNTPOINT [FUSE OPTION...]
 *
 * ORDER is a file that is read before each operation of its kind: "OPERATION MIN-MS MAX-MS SHARE",
 * such as "fsync 5 20 0.3": three of ten take 5 to 20 ms longer, evenly. Nothing in it: nothing is slow.
 */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static int root = -1;
static const char *order_path;

static int result(long code)
{
	return code < 0 ? -errno : (int)code;
}

/* Paths are given as "/NAME"; "" is the directory itself. */
static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static void take_time(const char *operation)
{
	double low = 0, high = 0, share = 0, ms;
	FILE *file = fopen(order_path, "re");
	struct timespec time;
	char name[16] = "";
	int n;

	if (!file) {
		return;
	}
	n = fscanf(file, "%15s %lf %lf %lf", name, &low, &high, &share);
	fclose(file);
	if (n != 4 || strcmp(name, operation) != 0 || drand48() >= share) {
		return;
	}
	ms = low + drand48() * (high - low);
	time.tv_sec = (time_t)(ms / 1000);
	time.tv_nsec = (long)((ms - 1000.0 * (double)time.tv_sec) * 1e6);
	nanosleep(&time, NULL);
}

static int slow_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
	return result(info ? fstat((int)info->fh, st)
			   : fstatat(root, below(path), st, AT_SYMLINK_NOFOLLOW));
}

static int slow_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
		struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	int fd = openat(root, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	(void)offset;
	(void)info;
	(void)flags;
	if (!directory) {
		return -errno;
	}
	while ((entry = readdir(directory)) != NULL) {
		if (fill(buffer, entry->d_name, NULL, 0, 0)) {
			break;
		}
	}
	closedir(directory);
	return 0;
}

static int slow_open(const char *path, struct fuse_file_info *info)
{
	int fd = openat(root, below(path), info->flags & ~O_CREAT);

	info->fh = (uint64_t)fd;
	return result(fd < 0 ? -1 : 0);
}

/* Whoever asks becomes the owner, as on any file system. */
static void give(const char *path)
{
	struct fuse_context *who = fuse_get_context();

	if (fchownat(root, below(path), who->uid, who->gid, AT_SYMLINK_NOFOLLOW) != 0) {
		perror("slowfs: chown");
	}
}

static int slow_create(const char *path, mode_t mode, struct fuse_file_info *info)
{
	int fd = openat(root, below(path), info->flags | O_CREAT, mode);

	info->fh = (uint64_t)fd;
	if (fd >= 0) {
		give(path);
	}
	return result(fd < 0 ? -1 : 0);
}

static int slow_mkdir(const char *path, mode_t mode)
{
	int code = mkdirat(root, below(path), mode);

	if (code == 0) {
		give(path);
	}
	return result(code);
}

static int slow_read(const char *path, char *to, size_t size, off_t offset, struct fuse_file_info *info)
{
	(void)path;
	return result(pread((int)info->fh, to, size, offset));
}

static int slow_write(const char *path, const char *from, size_t size, off_t offset,
		struct fuse_file_info *info)
{
	(void)path;
	take_time("write");
	/* pwrite() appends to what is open for appending, on Linux. */
	return result(pwrite((int)info->fh, from, size, offset));
}

static int slow_fsync(const char *path, int data, struct fuse_file_info *info)
{
	(void)path;
	take_time("fsync");
	return result(data ? fdatasync((int)info->fh) : fsync((int)info->fh));
}

static int slow_release(const char *path, struct fuse_file_info *info)
{
	(void)path;
	return result(close((int)info->fh));
}

static int slow_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
	char full[PATH_MAX];

	if (info) {
		return result(ftruncate((int)info->fh, size));
	}
	snprintf(full, sizeof(full), "/proc/self/fd/%d/%s", root, below(path));
	return result(truncate(full, size));
}

static int slow_unlink(const char *path)
{
	return result(unlinkat(root, below(path), 0));
}

static int slow_rmdir(const char *path)
{
	return result(unlinkat(root, below(path), AT_REMOVEDIR));
}

static int slow_rename(const char *from, const char *to, unsigned int flags)
{
	return flags ? -EINVAL : result(renameat(root, below(from), root, below(to)));
}

static int slow_chmod(const char *path, mode_t mode, struct fuse_file_info *info)
{
	return result(info ? fchmod((int)info->fh, mode) : fchmodat(root, below(path), mode, 0));
}

static int slow_chown(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *info)
{
	(void)info;
	return result(fchownat(root, below(path), uid, gid, AT_SYMLINK_NOFOLLOW));
}

static int slow_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *info)
{
	(void)info;
	return result(utimensat(root, below(path), times, AT_SYMLINK_NOFOLLOW));
}

static int slow_statfs(const char *path, struct statvfs *st)
{
	(void)path;
	return result(fstatvfs(root, st));
}

static const struct fuse_operations operations = {
		.getattr = slow_getattr,
		.readdir = slow_readdir,
		.open = slow_open,
		.create = slow_create,
		.mkdir = slow_mkdir,
		.read = slow_read,
		.write = slow_write,
		.fsync = slow_fsync,
		.release = slow_release,
		.truncate = slow_truncate,
		.unlink = slow_unlink,
		.rmdir = slow_rmdir,
		.rename = slow_rename,
		.chmod = slow_chmod,
		.chown = slow_chown,
		.utimens = slow_utimens,
		.statfs = slow_statfs,
};

int main(int argc, char **argv)
{
	char order[PATH_MAX];

	if (argc < 4) {
		fprintf(stderr, "usage: slowfs DIRECTORY ORDER MOUNTPOINT [FUSE OPTION...]\n");
		return 2;
	}
	root = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 || !realpath(argv[2], order)) {
		perror(root < 0 ? argv[1] : argv[2]);
		return 1;
	}
	order_path = order;
	srand48((long)time(NULL));
	argv[2] = argv[0];
	return fuse_main(argc - 2, argv + 2, &operations, NULL);
}
