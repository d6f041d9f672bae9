"""The library as a folder of plain files that is kept up to date, and whose changes flow back."""
