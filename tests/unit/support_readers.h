/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_SUPPORT_READERS_H
#define PT_SUPPORT_READERS_H

/*
 * Reads a recording by libbabeltrace2 and by our own reader, and fails the test unless they write
 * the same records, byte for byte and in the same order. Left out are RECORD_PROGRESS and
 * RECORD_STATE, which tell what the process does, and RECORD_WATERMARK, which tells when it had to
 * wait.
 */
void readers_compare(const char *directory);

#endif
