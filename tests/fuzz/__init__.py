"""Generated and foreign programs through check and fix, with every promise judged."""
