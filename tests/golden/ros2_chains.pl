#!/usr/bin/env perl
# SPDX-License-Identifier: GPL-3.0-or-later
# From babeltrace2's text of a trace of ROS 2: "N NANOSECONDS PROCESS", how many chains of callbacks begin
# in which process, and how long all of them took, from the begin of the first callback until the end of
# the last. Callbacks are of one chain where one takes a message with the timestamp that another has sent
# it with; what nobody's callback has sent makes one of those that take it.
use strict;
use warnings;

my (%taken, %chain_of, %sent, @chains);
while (<STDIN>) {
	my ($h, $m, $s, $ns, $name, $tid, $process, $rest) =
		/^\[(\d+):(\d+):(\d+)\.(\d+)\].*? (?:ros2|dds):(\w+): \{ .*? \}, \{ vtid = (\d+),.*? procname = "([^"]*)" \}, (.*)$/
		or next;
	my $at = (($h * 60 + $m) * 60 + $s) * 1e9 + $ns;
	if ($name eq "rmw_take") {
		($taken{$tid}) = $rest =~ /source_timestamp = (\d+)/;
	} elsif ($name eq "callback_start") {
		my $message = delete $taken{$tid};
		my $chain = defined $message ? $sent{$message} : undef;
		if (!$chain) {
			$chain = {};
			$sent{$message} = $chain if defined $message;
			push @chains, $chain;
		}
		$chain->{from} = $process, $chain->{begin} = $at if !$chain->{from};
		$chain_of{$tid} = $chain;
	} elsif ($name eq "callback_end" && $chain_of{$tid}) {
		(delete $chain_of{$tid})->{end} = $at;
	} elsif ($name eq "write" && $rest =~ / timestamp = (\d+)/) {
		$sent{$1} = $chain_of{$tid} || {};
		push @chains, $sent{$1} if !$chain_of{$tid};
	}
}
my (%n, %sum);
for my $chain (grep { $_->{end} } @chains) {
	$n{$chain->{from}}++;
	$sum{$chain->{from}} += $chain->{end} - $chain->{begin};
}
printf "%d %.0f %s\n", $n{$_}, $sum{$_}, $_ for sort keys %n;
