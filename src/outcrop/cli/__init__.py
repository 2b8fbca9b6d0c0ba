"""The command line: tune any program with a spec file, and look at studies.

Read `spec` for the format of a spec file, `placeholders` for how values are passed to a program,
`program` for how it is run, `program_output` for how its value is found.
"""
