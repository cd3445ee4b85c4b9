#!/usr/bin/perl
# SPDX-License-Identifier: GPL-3.0-or-later
# What babeltrace2 tells of a kernel's trace as text, on stdin: how many messages came on connections that
# were accepted, found again by what docs/requests.md says of them and by nothing of the program's. A
# message is what goes one way until the direction changes. Prints "PROGRAM N" of each program. (Within a
# process; descriptors that are passed on are not followed.)
use strict;
use warnings;

my %receives = map { $_ => 1 } qw(read readv recvfrom recvmsg);
my %sends = map { $_ => 1 } qw(write writev sendto sendmsg sendfile64);
my (%runs, %call, %way, %comm, %pid, %n);

while (<STDIN>) {
	my ($event, $cpu, $fields) = /^\[[\d:.]+\] \S+ \S+ (\w+): \{ cpu_id = (\d+) \}, \{(.*)\}$/ or next;
	my %f = $fields =~ /(\w+) = "?([^",]*[^", ])/g;
	if ($event eq 'sched_switch') {
		$runs{$cpu} = $f{next_tid};
		$comm{$f{next_tid}} = $f{next_comm};
	} elsif ($event eq 'lttng_statedump_process_state') {
		$pid{$f{tid}} = $f{pid};
		$comm{$f{tid}} = $f{name} if $f{tid} == $f{pid};
	}
	my ($end, $call) = $event =~ /^syscall_(entry|exit)_(.*)/ or next;
	my $tid = $runs{$cpu} // next;
	my $pid = $pid{$tid} // $tid;
	if ($end eq 'entry') {
		$call{$tid} = [$call, $f{fd} // $f{out_fd} // -1, $f{flags} // 0];
		my $key = "$pid $call{$tid}[1]";
		$way{$key} = 's' if $sends{$call} && exists $way{$key};
		next;
	}
	my $was = delete $call{$tid} // next;
	next if $was->[0] ne $call;
	my $key = "$pid $was->[1]";
	if ($call =~ /^accept4?$/ && $f{ret} >= 0) {
		$way{"$pid $f{ret}"} = 's';
	} elsif ($call eq 'close') {
		delete $way{$key};
	} elsif ($receives{$call} && $f{ret} > 0 && exists $way{$key} &&
		!($call =~ /^recv/ && $was->[2] =~ /^\d+$/ && $was->[2] & 2)) {
		$n{$comm{$pid}}++ if $way{$key} ne 'r';
		$way{$key} = 'r';
	}
}
print "$_ $n{$_}\n" for sort keys %n;
