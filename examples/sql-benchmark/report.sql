-- Customers with at least one large order, and all that they spent.
SELECT c.name, (SELECT sum(o.total) FROM orders o WHERE o.customer_id = c.id) AS spent
FROM customers c
WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id AND o.total > 990)
ORDER BY spent DESC, c.name
