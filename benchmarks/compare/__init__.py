"""Small networks, their ports, and faults put into them at random: what `compare_faults.py` measures on."""
