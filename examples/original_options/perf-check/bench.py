"""Waits for nothing, then prints a sum."""

import time

time.sleep(1.2)
print(sum(range(1000)))
