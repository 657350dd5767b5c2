"""What the site is built with, beside Sphinx and its extensions: `docs/conf.py` puts it together."""
