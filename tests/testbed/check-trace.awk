# SPDX-License-Identifier: GPL-3.0-or-later
#
# Checks a complete trace of the testbed as babeltrace2 prints it: spans nest per thread, both ends of
# every call are there and agree, and only the skeleton names requests.
# Prints the points that fired, one a line; what is wrong goes to standard error.

function wrong(what) {
	print "check-trace: " what ": " $0 > "/dev/stderr"
	if (++failed >= 10) {
		exit
	}
}

function field(name) {
	if (!match($0, "[ {]" name " = -?[0-9]+")) {
		return ""
	}
	return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4)
}

/ lttng_ust_statedump:procname: / {
	next # what a process is called
}

{
	event = ""
	for (i = 1; i <= NF && event == ""; i++) {
		if ($i ~ /^[a-z]+:[a-z0-9_]+:$/) {
			event = substr($i, 1, length($i) - 1)
		}
	}
	thread = field("vtid")
	request = field("request_id")
	message = field("msg_id")
	skeleton = event ~ /^[a-z]+:(call|serve)_/ ||
		event ~ /^api:(server|floating_ip|volume)_(create|list|delete)_(entry|exit)$/
	if (event == "" || thread == "") {
		wrong("no event or thread")
	}
	if ((request != "") != skeleton) {
		wrong("the skeleton, and nothing else, names a request")
	}
	if (event ~ /^compute:/ && $0 !~ /host = "compute-[12]"/) {
		wrong("no host")
	}
}

event ~ /_entry$/ {
	point = substr(event, 1, length(event) - 6)
	stack[thread, ++depth[thread]] = point
	if (depth[thread] > deepest) {
		deepest = depth[thread]
	}
	if (event ~ /:call_/) {
		called[message] = substr(point, index(point, ":call_") + length(":call_")) " " request
	}
	if (event ~ /:serve_/) {
		split(point, part, ":serve_")
		if (called[message] != part[1] "_" part[2] " " request) {
			wrong("served, but not called so")
		}
		served[message] = 1
		calls++
	}
	next
}

event ~ /_exit$/ {
	point = substr(event, 1, length(event) - 5)
	if (depth[thread] == 0 || stack[thread, depth[thread]] != point) {
		wrong("does not nest")
	} else {
		depth[thread]--
	}
	if (event ~ /:call_/ && !(message in served)) {
		wrong("answered, but not served")
	}
	fired[point] = 1
	next
}

{ fired[event] = 1 }

END {
	if (deepest < 5) {
		print "check-trace: spans nest over " deepest " levels only" > "/dev/stderr"
		failed++
	}
	if (calls < 100) {
		print "check-trace: only " calls + 0 " calls" > "/dev/stderr"
		failed++
	}
	for (point in fired) {
		print point
	}
	print NR " events, " calls " calls, spans nest over " deepest " levels" > "/dev/stderr"
	exit failed > 0
}
