"""`retrai watch`: checks a goal whenever files change, and says what broke."""
