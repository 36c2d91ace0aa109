"""``python -m dmfroc`` is the command ``dmfroc``."""

from dmfroc.cli.commands import main

if __name__ == "__main__":
    main()
