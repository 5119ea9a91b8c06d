/* Finds the sink for a URL: built in, or a shared object that is found as base/plugins.h says. */
#ifndef LIFELINE_PLUGIN_H
#define LIFELINE_PLUGIN_H

#include "sink.h"

extern const ll_sink_plugin ll_sink_null;
extern const ll_sink_plugin ll_sink_file;

/* Returns NULL with one line in why (never the URL itself, which may contain a password) on failure. */
const ll_sink_plugin *ll_sink_plugin_for(const char *url, char *why, size_t why_bytes);

/* Threads of all sinks in this process. */
uint32_t ll_sink_threads(void);

/* Calls the plugin's open while forks are delayed. */
ll_sink *ll_sink_open(const ll_sink_plugin *plugin, const ll_sink_host *host, char *why, size_t why_bytes);

#endif
