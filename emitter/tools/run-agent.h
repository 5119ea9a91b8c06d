/* The agent of a run: the one emitter of all its short processes. See emitter/preload/README.md, "Inside". */
#ifndef LIFELINE_RUN_AGENT_H
#define LIFELINE_RUN_AGENT_H

#include "settings.h"

/* Makes the run's table, sets LIFELINE_RUN_PAGE, and starts the agent, which is no child of this process and calls
 * itself `program`, as an emitter. False: it cannot, every process has to be an emitter of its own. */
bool run_agent_start(const io_settings *settings, unsigned interval_s, const char *program);

#endif
