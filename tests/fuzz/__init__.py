"""Inputs that nobody in their right mind would write, thousands of each kind, each from a number.

A kind of input is one module: `command_lines`, `toml_files`, `result_folders`, `python_arguments`,
`lying_objects` and `c_calls`. `driver` plays them in child processes, so that a crash is seen and attributed
to its input; `test_campaign` plays a few of each kind in the test command and as many as time allows where
`--campaign 30m` says so. Every input that broke something became a named test in `test_finds`.
"""
