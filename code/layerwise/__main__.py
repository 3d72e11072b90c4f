"""`python -m layerwise` is the command line."""

import sys

from layerwise.cli import main

sys.exit(main())
