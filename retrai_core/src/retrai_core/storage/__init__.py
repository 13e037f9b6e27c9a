"""The store `files`: what runs leave, in folders under the user's state folder."""
