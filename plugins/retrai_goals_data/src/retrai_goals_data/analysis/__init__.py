"""What runs in the process for NumPy, scikit-learn, SciPy and matplotlib."""
