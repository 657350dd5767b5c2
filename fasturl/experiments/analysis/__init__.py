"""Looking at results: statistics, summaries, figures and the report, which read stored results alone."""
