"""Train the judge of `extraction.prune.judge` on labelled pages, and measure it on pages it was not trained with.

    python -m pagekeep.lab.judge CORPUS... [--out FILE] [--measure CORPUS...]

`make judge` runs it on all corpora and writes the data file that is shipped. The result depends only on the pages and on the
versions of the libraries (the extra `train`): the same pages give the same file.
"""
