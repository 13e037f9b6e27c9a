SELECT c.id, (SELECT count(*) FROM orders o WHERE o.customer = c.id) AS orders
FROM customers c
ORDER BY c.id
