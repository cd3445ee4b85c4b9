/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef PT_STATE_LINUX_SOCKETS_H
#define PT_STATE_LINUX_SOCKETS_H

/* Numbers of Linux' sockets (generic; mips and a few others have other types). */
#define FAMILY_UNIX    1
#define FAMILY_INET    2
#define FAMILY_INET6   10
#define TYPE_MASK      15
#define TYPE_STREAM    1
#define TYPE_DGRAM     2
#define TYPE_SEQPACKET 5

#define ERROR_EINTR        (-4)
#define ERROR_EBADF        (-9)
#define ERROR_EAGAIN       (-11)
#define ERROR_EISCONN      (-106)
#define ERROR_ECONNABORTED (-103)
#define ERROR_EALREADY     (-114)
#define ERROR_EINPROGRESS  (-115)

#define MSG_PEEKS 2

#endif
