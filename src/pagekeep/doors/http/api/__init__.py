"""The API for programs: one module a resource."""
