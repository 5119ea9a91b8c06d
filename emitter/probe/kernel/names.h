/* The words for kinds of waits, requests and operations in events. */
#ifndef KERNEL_NAMES_H
#define KERNEL_NAMES_H

#include "cells.h"

#include <stddef.h>

const char *name_of_reason(unsigned reason);
const char *name_of_after(unsigned after);
const char *name_of_request(unsigned operation);

/* Such as "disk.read": those of calipers, so that analyses know them. */
const char *name_of_operation(unsigned operation, char *name, size_t name_bytes);

/* Such as "253:1". */
const char *name_of_device(unsigned device, char *name, size_t name_bytes);

/* Such as "127.0.0.1:80", "[::1]:80". */
const char *name_of_end(const struct kernel_end *end, char *name, size_t name_bytes);

/* A program's name, which may be any bytes, as printable ASCII. */
const char *name_of_program(const char program[16], char name[17]);

#endif
