"""One stateless step of a Reason-Act loop, as routes of `retrai serve`."""
