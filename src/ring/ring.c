/* SPDX-License-Identifier: GPL-3.0-or-later */
typedef int pt_ring_placeholder;
