"""Changes of the user's source that are tried on the failing step before they are told."""
