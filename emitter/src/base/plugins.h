/* Where shared objects of our own are searched: sinks, brokers' clocks, the probe's eBPF. What is found there runs with
 * all rights of the program, so a directory is one that the environment names, or part of our own installation: it
 * depends neither on the working directory nor on argv[0].
 */
#ifndef LIFELINE_PLUGINS_H
#define LIFELINE_PLUGINS_H

#include <limits.h>
#include <stdbool.h>

enum { LL_PLUGIN_PLACES = 3 };

/* The directories, in search order: LIFELINE_PLUGIN_DIR, which excludes the others; `lifeline` beside the library that
 * contains this code, or ../lib/lifeline from the directory of the program that does; the install directory. In a
 * set-user-id program only the last. False: no directory of this number. */
bool ll_plugin_place(unsigned number, char directory[PATH_MAX]);

/* The first readable file of this name in them. */
bool ll_plugin_find(const char *name, char path[PATH_MAX]);

#endif
