"""What stands before every route: names, sizes and headers, whoever asks."""
