"""Where `layerwise`, or `python -m layerwise`, begins: Ctrl-C is answered from here on.

Nothing is imported before that; what is left is the start of Python itself.
"""

import sys


def main() -> int:
    """The command line, imported where Ctrl-C ends it in a sentence."""
    try:
        from layerwise.run import cli

        return cli.main()
    except KeyboardInterrupt:  # while it was imported: afterwards it answers itself
        from layerwise.errors import INTERRUPTED

        print(f"\nlayerwise: {INTERRUPTED}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
