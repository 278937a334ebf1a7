"""What the signs and fixes of several causes have in common; no cause lives here."""
