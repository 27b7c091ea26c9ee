"""A run as a page in the browser: its findings, and the curves they came from, while it trains and afterwards."""
