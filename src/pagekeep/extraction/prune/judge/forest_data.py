FEATURES = NAMES = WORDS = ""
TREES: tuple[str, ...] = ()
