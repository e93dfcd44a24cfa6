"""`python -m listwright` is the command line."""

from listwright.cli import main

if __name__ == "__main__":
    main()
