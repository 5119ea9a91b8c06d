/* System calls by number on this architecture: what each does, and why a thread waits in it. */
#ifndef KERNEL_CALLS_H
#define KERNEL_CALLS_H

#include "cells.h"

/* Fills in all KERNEL_CALLS of them. */
void calls_describe(struct kernel_call calls[KERNEL_CALLS]);

#endif
