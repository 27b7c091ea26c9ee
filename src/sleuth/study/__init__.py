"""Whole corpora of posts, issues and commits: taken in, selected, labelled, classified, analysed, reported."""
