#include "roman.h"

#include <string.h>

static const struct { int value; const char *digits; } STEPS[] = {
    {1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"},
    {50, "L"},   {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"},
};

int roman(int number, char *out, size_t size) {
    size_t used = 0;
    if (number < 1 || number > 3999) return -1;
    for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
        while (number >= STEPS[i].value) {
            size_t length = strlen(STEPS[i].digits);
            if (used + length > size) return -1;
            memcpy(out + used, STEPS[i].digits, length);
            used += length;
            number -= STEPS[i].value;
        }
    }
    out[used] = '\0';
    return 0;
}
