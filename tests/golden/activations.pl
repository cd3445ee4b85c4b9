#!/usr/bin/perl
# SPDX-License-Identifier: GPL-3.0-or-later
# What babeltrace2 tells of a kernel's trace as text, on stdin: activations of threads and requests
# of disks, found again by what docs/requests.md says of them and by nothing of the program's. Prints
# "N NANOSECONDS KIND", KIND being "activations" and "disk", and "N NANOSECONDS program NAME" of each
# program, as far as an activation and a request were seen from begin to end. An activation of more
# than 10,000 events is not among them, since its tree is not whole.
use strict;
use warnings;

# Waits for something to do, and for input.
my %work = map { $_ => 1 } qw(accept accept4 clock_nanosleep epoll_pwait epoll_pwait2 epoll_wait futex
	futex_waitv io_getevents mq_timedreceive msgrcv nanosleep pause poll ppoll pselect6 rt_sigsuspend
	rt_sigtimedwait select wait4 waitid waitpid);
my %idle = (%work, map { $_ => 1 } qw(io_uring_enter read readv recvfrom recvmmsg recvmsg exit exit_group
	unknown));

my ($day, $last, %runs, %t, %comm, %pid, %disk, %n, %sum) = (0, 0);

sub begin {
	my ($t, $tid, $now) = @_;
	my $pid = $pid{$tid};
	my $name = defined $pid && $pid != $tid ? $comm{$pid} : undef;
	$name //= $comm{$tid} // '(unknown)';
	$name =~ s{^(?!irq/)([^/]*)/u?\d.*}{$1} if $t->{call} eq '?';
	@$t{qw(active begin name events)} = (1, $t->{woken} // $now, $name, 0);
	delete $t->{woken};
}

sub done {
	my ($t, $now, $cut) = @_;
	if ($t->{active} && !$cut && $t->{events} <= 10_000) {
		$n{$_}++, $sum{$_} += $now - $t->{begin} for 'activations', "program $t->{name}";
	}
	delete @$t{qw(active idle woken)};
}

while (<STDIN>) {
	my ($h, $m, $s, $ns, $event, $cpu, $fields) =
		/^\[(\d+):(\d+):(\d+)\.(\d+)\] \S+ \S+ (\w+): \{ cpu_id = (\d+) \}, \{(.*)\}$/ or next;
	my $now = (($h * 60 + $m) * 60 + $s) * 1_000_000_000 + $ns;
	$t{$runs{$cpu}}{events}++ if $runs{$cpu} && $t{$runs{$cpu}};
	my %f = $fields =~ /(\w+) = "?([^",]*[^", ])/g;
	if ($event eq 'sched_switch') {
		my ($tid, $state) = @f{qw(prev_tid prev_state)};
		my $t = $t{$tid} //= {call => '?'};
		my $preempted = $state == 0 || ($state >= 0x100 && $state != 0x402);
		@comm{$tid, $f{next_tid}} = @f{qw(prev_comm next_comm)};
		if ($tid && !$preempted && $state & 0x70) {
			done($t, $now);
			$t->{call} = '?';
		} elsif ($tid && !$preempted && ($state & 1 || $state == 0x80 || $state == 0x402) &&
			($t->{call} eq '?' || $idle{$t->{call}})) {
			done($t, $now);
			@$t{qw(idle sure)} = (1, $t->{call} ne '?');
		}
		$runs{$cpu} = $tid = $f{next_tid};
		$t = $t{$tid} //= {call => '?'};
		begin($t, $tid, $now) if $tid && $t->{idle} && !$t->{active} && $t->{call} eq '?';
	} elsif ($event =~ /^sched_wak(ing|eup|eup_new)$/) {
		my $t = $t{$f{tid}} //= {call => '?'};
		$t->{woken} //= $now if !$t->{active};
	} elsif ($event =~ /^(?:compat_)?syscall_entry_(.*)/ && $runs{$cpu}) {
		my $t = $t{$runs{$cpu}} //= {call => '?'};
		begin($t, $runs{$cpu}, $now) if $t->{idle} && !$t->{active};
		$t->{call} = $1 =~ s/_time(32|64)$//r;
	} elsif ($event =~ /^(?:compat_)?syscall_exit_(.*)/ && $runs{$cpu}) {
		my $t = $t{$runs{$cpu}} //= {call => '?'};
		my ($was, $call) = ($t->{call}, $1 =~ s/_time(32|64)$//r);
		$t->{call} = '';
		if ($t->{active}) {
			done($t, $now, 1) if $was eq '?' && !$t->{sure} && !$idle{$call};
		} elsif ($t->{idle} || ($was eq '?' && $t->{woken} && $work{$call})) {
			begin($t, $runs{$cpu}, $now);
		}
	} elsif ($event eq 'sched_process_fork') {
		$t{$f{child_tid}} = {call => '?', idle => 1, sure => 1, woken => $now};
		$pid{$f{child_tid}} = $f{child_pid};
		$comm{$f{child_tid}} = $f{child_comm};
	} elsif ($event eq 'sched_process_exec') {
		my $t = $t{$f{tid}} //= {call => '?'};
		done($t, $now);
		@$t{qw(idle woken call)} = (1, $now, 'execve');
		$comm{$f{tid}} = substr($f{filename} =~ s{.*/}{}r, 0, 15);
	} elsif ($event eq 'sched_process_free') {
		delete $t{$f{tid}};
	} elsif ($event eq 'lttng_statedump_process_state') {
		$pid{$f{tid}} = $f{pid};
		$comm{$f{tid}} = $f{name} if $f{tid} == $f{pid};
	} elsif ($event eq 'block_rq_issue') {
		$disk{"$f{dev} $f{sector}"} = $now;
	} elsif ($event eq 'block_rq_complete') {
		my $since = delete $disk{"$f{dev} $f{sector}"} // next;
		$n{disk}++;
		$sum{disk} += $now - $since;
	}
}
printf "%d %.0f %s\n", $n{$_}, $sum{$_}, $_ for sort keys %n;
