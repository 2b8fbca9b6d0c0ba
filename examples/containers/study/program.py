"""Stands for a program of yours: its arguments are parameters, its last line is the value."""

import sys

x, y = map(float, sys.argv[1:])
print((x - 1) ** 2 + (y + 2) ** 2)
