"""``python -m easeci``."""

from easeci.cli.main import main

if __name__ == "__main__":
    main()
