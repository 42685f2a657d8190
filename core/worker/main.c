/* SPDX-License-Identifier: MIT */
#include <stdio.h>

int main(void)
{
    printf("gudgeon " GUDGEON_VERSION "\n");
    return 0;
}
