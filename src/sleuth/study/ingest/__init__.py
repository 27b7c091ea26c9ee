"""Takes posts, issues and commits in, from whatever they were exported as, and settles them into one typed corpus."""
