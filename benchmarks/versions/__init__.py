"""Does Sleuth work with every Python and torch that it says it works with?"""
