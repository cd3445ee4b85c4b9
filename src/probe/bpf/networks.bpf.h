/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of probe.bpf.c. Events of network devices. */

/* By any device but the loopback one. */
static __always_inline bool is_from_outside(struct sk_buff *packet)
{
	char name[3] = {0};

	bpf_probe_read_kernel(name, sizeof(name), packet->dev->name);
	return name[0] != 'l' || name[1] != 'o' || name[2] != 0;
}

SEC("tp_btf/net_dev_queue")
int on_net_dev_queue(__u64 *ctx)
{
	struct sk_buff *packet = (void *)ctx[0];

	/* What the probe itself sends would be told by what it sends next. */
	if (is_own() || !ours_runs()) {
		return 0;
	}
	RECORD_TEXT(net_dev_queue, PROBE_NAME);
	record->body.skbaddr = (__u64)packet;
	record->body.len = packet->len;
	PUT_TEXT(packet->dev->name);
	SUBMIT();
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int on_net_if_receive_skb(__u64 *ctx)
{
	struct sk_buff *packet = (void *)ctx[0];

	SERVES(outside, is_from_outside(packet));
	if (!ours_runs()) {
		return 0;
	}
	RECORD_TEXT(net_if_receive_skb, PROBE_NAME);
	record->body.skbaddr = (__u64)packet;
	record->body.len = packet->len;
	PUT_TEXT(packet->dev->name);
	SUBMIT();
	return 0;
}
