"""The kinds of sinks: one module each, found by itself. See CONTRIBUTING.md for how to add one."""
