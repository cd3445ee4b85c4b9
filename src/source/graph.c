/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct graph {
	bt_graph *graph;
	struct reader *reader;
	enum reader_step step;
	uint64_t n_ports;
};

static bt_component_class_initialize_method_status sink_initialize(bt_self_component_sink *self,
		bt_self_component_sink_configuration *configuration, const bt_value *parameters,
		void *data)
{
	struct graph *graph = data;

	(void)configuration;
	(void)parameters;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), graph);
	for (uint64_t i = 0; i < graph->n_ports; i++) {
		char name[32];

		snprintf(name, sizeof(name), "in%" PRIu64, i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
				BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
		}
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static struct graph *self_graph(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

static bt_component_class_sink_graph_is_configured_method_status sink_configured(
		bt_self_component_sink *self)
{
	uint64_t n = bt_component_sink_get_input_port_count(
			bt_self_component_sink_as_component_sink(self));

	for (uint64_t i = 0; i < n; i++) {
		bt_message_iterator *iterator = NULL;
		bt_message_iterator_create_from_sink_component_status status =
				bt_message_iterator_create_from_sink_component(self,
						bt_self_component_sink_borrow_input_port_by_index(
								self, i),
						&iterator);

		if (status != BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK) {
			return (bt_component_class_sink_graph_is_configured_method_status)status;
		}
		reader_set_input(self_graph(self)->reader, (uint32_t)i, iterator);
	}
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct graph *graph = self_graph(self);

	graph->step = reader_run(graph->reader);
	switch (graph->step) {
	case READER_MORE:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
	case READER_AGAIN:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
	case READER_END:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
	default:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	}
}

/* The iterators belong to the graph: they must go before it does. */
static void sink_finalize(bt_self_component_sink *self)
{
	struct graph *graph = self_graph(self);

	if (graph && graph->reader) {
		reader_close(graph->reader);
	}
}

static const bt_component_class_sink *make_sink_class(void)
{
	bt_component_class_sink *class = bt_component_class_sink_create("records", sink_consume);

	if (class) {
		bt_component_class_sink_set_initialize_method(class, sink_initialize);
		bt_component_class_sink_set_graph_is_configured_method(class, sink_configured);
		bt_component_class_sink_set_finalize_method(class, sink_finalize);
	}
	return class;
}

static const bt_component_source *add_source(
		struct graph *graph, const char *class_name, const bt_value *parameters)
{
	const bt_plugin *plugin = NULL;
	const bt_component_class_source *class;
	const bt_component_source *source = NULL;

	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) !=
			BT_PLUGIN_FIND_STATUS_OK) {
		return NULL;
	}
	class = bt_plugin_borrow_source_component_class_by_name_const(plugin, class_name);
	if (class) {
		bt_graph_add_source_component(graph->graph, class, "source", parameters,
				BT_LOGGING_LEVEL_WARNING, &source);
	}
	bt_plugin_put_ref(plugin);
	return source;
}

/* One input of the sink for each output of the source. */
static bool connect_all(struct graph *graph, const bt_component_source *source,
		const bt_component_sink *sink)
{
	for (uint64_t i = 0; i < graph->n_ports; i++) {
		const bt_port_output *output =
				bt_component_source_borrow_output_port_by_index_const(source, i);
		const bt_port_input *input =
				bt_component_sink_borrow_input_port_by_index_const(sink, i);

		if (bt_graph_connect_ports(graph->graph, output, input, NULL) !=
				BT_GRAPH_CONNECT_PORTS_STATUS_OK) {
			return false;
		}
	}
	return true;
}

static bool build(struct graph *graph, const char *class_name, const bt_value *parameters,
		struct outlet *outlet, struct traces *traces)
{
	const bt_component_class_sink *sink_class = make_sink_class();
	const bt_component_source *source;
	const bt_component_sink *sink = NULL;
	bool built = false;

	graph->graph = bt_graph_create(0);
	source = graph->graph && sink_class ? add_source(graph, class_name, parameters) : NULL;
	if (source) {
		graph->n_ports = bt_component_source_get_output_port_count(source);
		graph->reader = reader_create(outlet, traces, (uint32_t)graph->n_ports);
	}
	if (graph->reader && bt_graph_add_sink_component_with_initialize_method_data(graph->graph,
					     sink_class, "records", NULL, graph,
					     BT_LOGGING_LEVEL_WARNING,
					     &sink) == BT_GRAPH_ADD_COMPONENT_STATUS_OK) {
		built = connect_all(graph, source, sink);
	}
	bt_component_class_sink_put_ref(sink_class);
	return built;
}

struct graph *graph_create(const char *component_class, const bt_value *parameters,
		struct outlet *outlet, struct traces *traces, struct fault *fault)
{
	struct graph *graph = calloc(1, sizeof(*graph));

	if (graph && build(graph, component_class, parameters, outlet, traces)) {
		return graph;
	}
	fault_take(fault, graph ? "the ctf plugin of babeltrace2 was not found" : "out of memory");
	graph_destroy(graph);
	return NULL;
}

void graph_destroy(struct graph *graph)
{
	if (graph) {
		bt_graph_put_ref(graph->graph);
		reader_destroy(graph->reader);
		free(graph);
	}
}

enum reader_step graph_run(struct graph *graph, struct fault *fault)
{
	fault->text[0] = '\0';
	graph->step = READER_MORE;
	switch (bt_graph_run_once(graph->graph)) {
	case BT_GRAPH_RUN_ONCE_STATUS_OK:
		return READER_MORE;
	case BT_GRAPH_RUN_ONCE_STATUS_AGAIN:
		return READER_AGAIN;
	case BT_GRAPH_RUN_ONCE_STATUS_END:
		return READER_END;
	default:
		break;
	}
	if (graph->step == READER_ERROR) {
		bt_current_thread_clear_error();
	} else {
		fault_take(fault, "the library gave no reason");
	}
	return READER_ERROR;
}

void graph_expect(struct graph *graph, uint64_t begin_ns, uint64_t end_ns)
{
	reader_expect(graph->reader, begin_ns, end_ns);
}

const struct reader *graph_reader(const struct graph *graph)
{
	return graph->reader;
}
