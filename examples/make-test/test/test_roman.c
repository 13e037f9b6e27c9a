#include <stdio.h>
#include <string.h>

#include "roman.h"

static int failed;

static void expect(int number, const char *wanted) {
    char text[32];
    if (roman(number, text, sizeof text) != 0 || strcmp(text, wanted) != 0) {
        printf("roman(%d) is %s, not %s\n", number, text, wanted);
        failed++;
    }
}

int main(void) {
    char small[3];
    expect(1, "I");
    expect(44, "XLIV");
    expect(1999, "MCMXCIX");
    expect(3888, "MMMDCCCLXXXVIII");
    if (roman(3, small, sizeof small) != -1) {
        printf("three digits and the end do not fit into three bytes\n");
        failed++;
    }
    printf("%d failed\n", failed);
    return failed != 0;
}
