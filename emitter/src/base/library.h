/* Loads client libraries and sinks. */
#ifndef LIFELINE_LIBRARY_H
#define LIFELINE_LIBRARY_H

/* dlopen for this library alone, and for good. If the program exports functions of such libraries under their names (it
 * contains BoringSSL, for example), the library is bound to its own ones first. */
void *ll_library_open(const char *path);

#endif
