#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every request of a live run, over all services: the parts of its critical path add up to its
# duration, in ns. test_sums.sh SOURCE-DIR BUILD-DIR
set -u
source_dir=$1 build=$2
# shellcheck disable=SC2016
exec "$source_dir/tests/testbed/daemons.sh" --session sums --events testbed -- \
	"$build/testbed/pt-testbed" --fault semaphore -- \
	sh -c 'exec "$1" "$PT_RELAY" 12 300' sh "$build/tests/property_test_measured"
