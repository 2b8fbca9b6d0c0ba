"""The command line: tune any program by a spec file, and look at studies.

Read `spec` for what a spec file says, `placeholders` for how values reach a program, `program` for
how it is run, `output` for how its value is found.
"""
