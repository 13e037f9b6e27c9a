"""The web server: `retrai serve`, a REST API and WebSockets on the session API."""
