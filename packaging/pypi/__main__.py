"""`python -m rulebook_cli`."""

from rulebook_cli import main

main()
