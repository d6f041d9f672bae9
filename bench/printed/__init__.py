"""Our own texts, printed by several programs, and how what is read of them is compared with what was printed."""
