#ifndef ROMAN_H
#define ROMAN_H

#include <stddef.h>

/* Writes number (1 to 3999) in Roman digits to out; returns 0, or -1 where it does not fit. */
int roman(int number, char *out, size_t size);

#endif
