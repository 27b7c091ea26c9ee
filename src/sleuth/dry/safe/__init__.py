"""The rehearsal leaves no trace: writes, network and processes are kept off, and listed."""
