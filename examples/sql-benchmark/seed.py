"""Makes `shop.db`: 300 customers and 9,000 orders, always the same, without an index."""

import sqlite3

CUSTOMERS, ORDERS = 300, 9_000

with sqlite3.connect("shop.db") as shop:
    shop.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
    shop.execute("CREATE TABLE orders (id INTEGER, customer_id INTEGER, total REAL)")
    shop.executemany(
        "INSERT INTO customers VALUES (?, ?)", [(n, f"customer {n}") for n in range(CUSTOMERS)]
    )
    shop.executemany(
        "INSERT INTO orders VALUES (?, ?, ?)",
        [(n, n * 7919 % CUSTOMERS, round(n * 104729 % 100_000 / 100, 2)) for n in range(ORDERS)],
    )
shop.close()
