"""Classifying posts by their text: four models behind one scikit-learn-style interface, and what they are worth."""
