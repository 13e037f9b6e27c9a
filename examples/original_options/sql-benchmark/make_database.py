"""Makes shop.db: 20 customers with 60,000 orders, and no index."""

import sqlite3

with sqlite3.connect("shop.db") as database:
    database.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY)")
    database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER)")
    database.executemany("INSERT INTO customers VALUES (?)", [(n,) for n in range(20)])
    rows = ((n, n % 20) for n in range(60_000))
    database.executemany("INSERT INTO orders VALUES (?, ?)", rows)
