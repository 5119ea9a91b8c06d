/* Finds the sink for a URL: built in, or a shared object in Lifeline's own plugin directory.
 *
 * That directory is `lifeline` beside the library that is running, so a plugin comes from where the core came from and
 * from nowhere else. LIFELINE_PLUGIN_DIR replaces it for a build tree, and is ignored in set-user-id programs.
 */
#ifndef LIFELINE_PLUGIN_H
#define LIFELINE_PLUGIN_H

#include "sink.h"

extern const ll_sink_plugin ll_sink_null;
extern const ll_sink_plugin ll_sink_file;

/* NULL with one line in why (never the URL itself, which may hold a password). */
const ll_sink_plugin *ll_sink_plugin_for(const char *url, char *why, size_t why_bytes);

/* The plugin's open, while nobody forks. */
ll_sink *ll_sink_open(const ll_sink_plugin *plugin, const ll_sink_host *host, char *why, size_t why_bytes);

#endif
