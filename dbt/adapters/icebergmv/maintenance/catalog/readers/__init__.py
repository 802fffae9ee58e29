"""One module a kind of catalog, each with one class `Reader`: a new module is found without being listed."""
