"""One file a diagnosis of something wrong that does not crash, each with a `Watch` (see `dry.watchers`)."""
